// Any text as a trace script.  What assembles must give a configuration, fit its bounds, make the
// same capture again, and decode without harm.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "waymark/image/image.h"
#include "waymark/inputs/trace_script.h"
#include "waymark/tree/decode_tree.h"

namespace {

using namespace waymark;

constexpr inputs::ScriptLimits kLimits = {.bytes = 1U << 16, .statements = 1U << 14};

void decode(const inputs::TraceScript& script, const inputs::ScriptBuffer& buffer) {
  image::Image image;
  // Overlaps and addresses past the end are refused; that is correct, too.
  for (const inputs::ScriptImage& part : script.images)
    (void)image.add_buffer(part.address, part.bytes, part.space);
  DecodeTree tree(buffer.formatted() ? std::optional(buffer.frame_options()) : std::nullopt);
  for (const inputs::ScriptDevice& device : script.devices) {
    auto source = inputs::make_source(device, &image, {});
    if (!source) return;
    (void)tree.add(std::move(*source));
  }
  if (tree.sources().empty()) return;
  std::array<Element, 64> elements;
  const std::size_t unit = buffer.formatted() ? buffer.frame_options().alignment() : 1;
  const Bytes bytes = Bytes(buffer.bytes).first(buffer.bytes.size() / unit * unit);
  if (bytes.empty() || !tree.feed(0, bytes)) return;
  while (tree.next(elements) != 0) {
  }
  tree.finish();
  while (tree.next(elements) != 0) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto script = inputs::assemble_trace_script(text, kLimits);
  if (!script) {
    if (!script.error().detail.starts_with("line ")) std::abort();
    return 0;
  }
  std::size_t total = 0;
  for (const inputs::ScriptBuffer& buffer : script->buffers) total += buffer.bytes.size();
  if (total > kLimits.bytes) std::abort();
  const auto again = inputs::assemble_trace_script(text, kLimits);
  if (!again || again->buffers.size() != script->buffers.size()) std::abort();
  for (std::size_t i = 0; i < script->buffers.size(); ++i) {
    if (again->buffers[i].bytes != script->buffers[i].bytes) std::abort();
    decode(*script, script->buffers[i]);
  }
  return 0;
}
