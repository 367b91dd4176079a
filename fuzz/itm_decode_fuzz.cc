// ITM decoding: register, options and chunk size come from the first bytes of the input, the stream
// from the rest.  Invariants: the source takes all bytes, elements are those that an ITM gives with
// fields in their bounds, any chunking and any span give the same elements with packets or without,
// and all of it can be written in every form.
#include <algorithm>
#include <string>
#include <vector>

#include "require.h"
#include "waymark/element/text.h"
#include "waymark/itm/source.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/human.h"
#include "waymark/outputs/json.h"

namespace {

using namespace waymark;
using fuzz::require;

class Counter final : public Observer {
 public:
  explicit Counter(bool packets) : packets_(packets) {}
  [[nodiscard]] bool wants_packets() const override { return packets_; }
  void on_packet(const PacketRef&) override { ++count; }
  void on_diagnostic(const Diagnostic& record) override {
    require(!describe(record).empty(), "a record without words");
  }
  std::size_t count = 0;

 private:
  bool packets_;
};

void check(const Element& element) {
  require(element.kind == ElementKind::kItmTrace || element.kind == ElementKind::kNoSync ||
              element.kind == ElementKind::kEndOfTrace,
          "an element that no ITM gives");
  if (element.kind != ElementKind::kItmTrace) return;
  require((element.extra & kItmKindMask) <= static_cast<std::uint8_t>(ItmKind::kGlobalTimestamp),
          "no kind of ITM element");
  require(element.number <= 255 && element.extra_value <= 4, "a field out of bounds");
  require(itm_pc_bytes(element.reason) <= 4 && itm_address_bytes(element.reason) <= 4,
          "more bytes of an address than there are");
}

std::string decode(const itm::Config& config, const SourceOptions& options, Bytes stream,
                   std::size_t chunk, std::size_t span, bool packets) {
  auto source = itm::make_source(config, options);
  require(source.has_value(), "no source");
  Counter counter(packets);
  (*source)->set_observer(&counter, 5);
  TextBuffer text;
  std::vector<Element> out(span);
  const auto take = [&] {
    while (const std::size_t count = (*source)->next(out)) {
      for (std::size_t i = 0; i < count; ++i) {
        check(out[i]);
        write_element_line(text, out[i]);
      }
    }
  };
  for (std::size_t at = 0; at < stream.size() && !(*source)->failed(); at += chunk) {
    const frames::Run run{0, at};
    (*source)->feed({stream.subspan(at, std::min(chunk, stream.size() - at)), {&run, 1}});
    take();
  }
  if (!(*source)->failed()) {
    require((*source)->statistics().total_bytes == stream.size(), "bytes were not taken");
    (*source)->finish();
    take();
  }
  return std::string(text.view());
}

void write_all(const itm::Config& config, Bytes stream) {
  auto source = itm::make_source(config, {});
  const frames::Run run{0, 0};
  (*source)->feed({stream, {&run, 1}});
  TextBuffer text;
  outputs::HumanWriter human(text);
  std::vector<Element> out(64);
  while (const std::size_t count = (*source)->next(out)) {
    human.add(std::span(out).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      outputs::write_json(text, out[i]);
      outputs::write_csv(text, out[i]);
    }
    if (text.size() > (1U << 20)) text.clear();
  }
  human.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 7;
  if (size < kSettings || size > 65536) return 0;
  itm::Config config;
  SourceOptions options;
  options.starts_in_sync = (data[0] & 1) != 0;
  options.quirks = (data[0] & 2) != 0 ? kReferenceQuirks : 0;
  if ((data[0] & 8) != 0) options.flags = kNoForwardBadPackets;
  config.itm_tcr = static_cast<std::uint32_t>(data[1] | data[2] << 8 | data[3] << 16);
  const std::size_t chunk = data[4] + 1U;
  const std::size_t span = data[5] % 20U + 1;
  std::vector<std::uint8_t> stream;
  if ((data[0] & 4) != 0) stream = {0, 0, 0, 0, 0, 0x80};
  stream.insert(stream.end(), data + kSettings, data + size);

  const std::string whole =
      decode(config, options, stream, std::max<std::size_t>(stream.size(), 1), 1000, false);
  require(decode(config, options, stream, chunk, span, true) == whole,
          "chunks, spans or packets change the elements");
  write_all(config, stream);
  return 0;
}
