// PTM bytes to elements: registers, decode flags, quirks, the program and how memory
// shows it come from a seed in the first bytes of the input, the stream from the rest.  Invariants:
// enums and ranges are valid, the size of spans and chunks and the block cache make no difference,
// nor does an observer, and the output is bounded by the input.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/decoded.h"
#include "support/ptm_stream.h"
#include "waymark/ptm/decoder.h"
#include "waymark/ptm/source.h"

namespace {

using namespace waymark;
using support::Program;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

struct Plan {
  ptm::Config config;
  SourceOptions options;
  std::unique_ptr<image::Image> image;
  std::size_t chunk = 0;
  std::vector<std::uint8_t> before;  ///< Valid stream that comes before the input.
};

Plan plan_of(Bytes settings) {
  support::Random bytes(settings);
  Plan plan;
  const std::uint64_t seed = bytes.bits(32);
  const unsigned mode = bytes.byte();
  plan.chunk = bytes.byte() + 1U;
  const auto flags = static_cast<std::uint32_t>(bytes.bits(24));
  plan.options.flags = flags & (kNoForwardBadPackets | kErrorOnBadPackets | kHaltOnBadPackets);
  plan.options.reference_quirks = (mode & 1) != 0;
  if ((mode & 2) != 0) plan.options.range_limit = (mode >> 4) + 1;
  support::Random random(seed);
  plan.config = support::random_ptm_config(random);
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (bit<23>(flags))
    plan.before =
        support::PtmStreamMaker(random, plan.config).make(bit<22>(flags) ? 40 : 0, 0, false);
  return plan;
}

support::Decoded decode(const Plan& plan, const SourceOptions& options, Bytes stream,
                        std::size_t chunk, std::size_t span, bool watch) {
  auto made = ptm::make_source(plan.config, plan.image.get(), options);
  require(made.has_value(), "the configuration was refused");
  Source& source = **made;
  support::Decoded decoded;
  if (watch) {
    decoded.source = &source;
    source.set_observer(&decoded, 1);
  }
  support::feed(source, 0, stream, chunk, span, decoded.elements);
  source.finish();
  support::take(source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

void check(const Element& element, std::size_t stream_size, TraceId id) {
  require(static_cast<std::size_t>(element.kind) < kElementKindCount, "an unknown kind");
  require(element.kind != ElementKind::kUnknown, "an element without a kind");
  require(element.trace_id == id, "an element of another source");
  require(element.index <= stream_size, "an index past the end");
  require(static_cast<unsigned>(element.isa) <= static_cast<unsigned>(isa::Isa::kUnknown),
          "an unknown instruction set");
  require(element.last_type <= isa::InstrType::kTstart, "an unknown instruction type");
  require(element.last_subtype <= isa::InstrSubtype::kV7ImpliedReturn, "an unknown subtype");
  require(element.security <= Security::kRealm, "an unknown world");
  if (element.kind != ElementKind::kInstrRange) return;
  require(element.start < element.end,
          "a range without an instruction: " + support::text_of(element));
  const std::uint64_t size = element.end - element.start;
  require(4 * std::uint64_t{element.count} >= size && 2 * std::uint64_t{element.count} <= size,
          "a range whose count is impossible: " + support::text_of(element));
  require(element.last_size == 2 || element.last_size == 4, "an instruction of impossible size");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 9;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings));
  std::vector<std::uint8_t> stream = plan.before;
  stream.insert(stream.end(), data + kSettings, data + size);
  const support::Decoded whole = decode(plan, plan.options, stream, 0, 1024, true);
  // At most five atoms a byte, and three elements more.
  require(whole.elements.size() <= 8 * (stream.size() + 1) + 8, "more elements than input");
  for (const Element& element : whole.elements)
    check(element, stream.size(), plan.config.trace_id());

  const auto equal = [&](const support::Decoded& other, const char* what) {
    const std::string text = difference(whole, other);
    require(text.empty(), std::string(what) + " makes a difference: " + text);
  };
  equal(decode(plan, plan.options, stream, 0, 1, true), "the size of spans");
  support::Decoded cut = decode(plan, plan.options, stream, plan.chunk, 7, true);
  if (plan.options.reference_quirks) {
    // The chunks of unsynchronised bytes depend on the blocks; the rest does not.
    const std::string text = support::difference(whole.elements, cut.elements);
    require(text.empty(), "the size of chunks makes a difference: " + text);
  } else {
    equal(cut, "the size of chunks");
  }
  SourceOptions uncached = plan.options;
  uncached.block_cache = false;
  equal(decode(plan, uncached, stream, 0, 1024, true), "the block cache");
  const support::Decoded alone = decode(plan, plan.options, stream, 0, 1024, false);
  const std::string text = support::difference(whole.elements, alone.elements);
  require(text.empty(), "an observer makes a difference: " + text);
  return 0;
}
