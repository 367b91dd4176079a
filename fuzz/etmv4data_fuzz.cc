// The ETMv4 data stream with any layouts: packets_target.h.  Also, the decoder gives only the
// allowed elements.
#include "packets_target.h"
#include "waymark/element/text.h"
#include "waymark/etmv4data/fields.h"
#include "waymark/etmv4data/parser.h"
#include "waymark/etmv4data/source.h"
#include "waymark/etmv4data/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv4data;
using fuzz::require;

struct Etmv4Data {
  using Parser = etmv4data::Parser;
  using Packet = etmv4data::Packet;
  static constexpr std::size_t kSettings = 1 + 2 * Layouts::kCount;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = false;
  static constexpr bool kVisitors = false;

  explicit Etmv4Data(support::Random& random) : synchronised((random.byte() & 1) != 0) {
    for (std::size_t i = 0; i < Layouts::kCount; ++i) {
      const std::uint8_t row = random.byte();
      const std::uint8_t types = random.byte();
      if ((row & 0x80) != 0)
        config.layouts.set_row(i, {static_cast<std::uint8_t>(row & 0x7F), types});
    }
  }

  [[nodiscard]] Parser parser() const { return Parser(config); }
  [[nodiscard]] std::vector<std::uint8_t> beginning() const {
    std::vector<std::uint8_t> bytes;
    if (synchronised) bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    return bytes;
  }
  static bool exact() { return true; }
  static void check(const Parser& /*parser*/, const Packet& packet, const fuzz::Parsed& before) {
    require(packet.index == before.bytes.size(), "an index out of place");
  }
  static void write(TextBuffer& text, const Packet& packet) {
    write_packet(text, packet);
    if (packet.monitor_only) text.put('*');
  }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }

  Config config;
  bool synchronised = false;
};

void decode(const Config& config, Bytes stream) {
  const auto source = *make_source(config, {});
  const frames::Run run{0, 0};
  source->feed({stream, {&run, 1}});
  source->finish();
  std::vector<Element> out(7);
  TextBuffer text;
  while (const std::size_t count = source->next(out)) {
    for (std::size_t i = 0; i < count; ++i) {
      require(out[i].kind == ElementKind::kNoSync || out[i].kind == ElementKind::kTimestamp ||
                  out[i].kind == ElementKind::kSyncMarker ||
                  out[i].kind == ElementKind::kDataEvent || out[i].kind == ElementKind::kEndOfTrace,
              "an element that no data stream gives");
      text.clear();
      write_element_line(text, out[i]);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::PacketsInput<Etmv4Data> input(data, size);
  input.run();
  if (input.protocol) decode(input.protocol->config, input.stream);
  return 0;
}
