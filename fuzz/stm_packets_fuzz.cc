// STM packets in either order of nibbles, natively or with the quirks of the reference:
// packets_target.h.
#include "packets_target.h"
#include "waymark/stm/fields.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/text.h"

namespace {

using namespace waymark;
using namespace waymark::stm;
using fuzz::require;

struct Stm {
  using Parser = stm::Parser;
  using Packet = stm::Packet;
  static constexpr std::size_t kSettings = 2;
  static constexpr bool kNibbles = true;
  static constexpr bool kBatches = true;
  static constexpr bool kVisitors = true;

  explicit Stm(support::Random& random) : mode(random.byte()) {
    if ((mode & 1) != 0) quirks = Quirks::reference();
    config.order =
        random.pick({NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst, NibbleOrder::kAuto});
  }

  [[nodiscard]] Parser parser() const { return Parser(config, quirks); }
  /// Half of the inputs begin synchronised, after a nibble or none.
  [[nodiscard]] std::vector<std::uint8_t> beginning() const {
    if ((mode & 0x80) == 0) return {};
    std::vector<std::uint8_t> bytes(10, 0xFF);
    const bool version_3 = (mode & 0x40) != 0;
    bytes.insert(bytes.end(), {0x0F, 0x0F, static_cast<std::uint8_t>(version_3 ? 0x30 : 0x40)});
    if ((mode & 0x20) != 0) bytes.insert(bytes.begin(), 0x00);
    return bytes;
  }
  [[nodiscard]] bool exact() const { return !quirks.unsynced_by_block; }
  void check(const Parser& parser, const Packet& packet, const fuzz::Parsed& before) const {
    if (exact()) {
      require(packet.nibbles != 0, "a packet of nothing");
      require(packet.length() == parser.packet_bytes().size(),
              "the length is not that of the bytes");
      require(packet.upper == ((before.nibbles & 1) != 0), "a gap or an overlap of one nibble");
      require(packet.index == before.nibbles / 2, "the index is not that of the first nibble");
    }
    require(packet.payload_bits <= 64 && packet.timestamp_bits <= 64, "a field out of bounds");
    require(packet_keyword(packet) != "unknown", "a packet of no known type");
  }
  static void write(TextBuffer& text, const Packet& packet) { write_packet(text, packet); }
  static auto fields(const Packet& packet) { return fields_of(packet); }

  unsigned mode;
  Config config;
  Quirks quirks;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Stm>(data, size).run();
}
