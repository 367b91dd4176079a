// ITM packets, natively or with the quirks of the reference: packets_target.h.  Also, whole packets
// encode to the bytes that they came from, or to ones that mean the same.
#include "packets_target.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/fields.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/text.h"

namespace {

using namespace waymark;
using namespace waymark::itm;
using fuzz::require;

struct Itm {
  using Parser = itm::Parser;
  using Packet = itm::Packet;
  static constexpr std::size_t kSettings = 1;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = true;
  static constexpr bool kVisitors = true;

  explicit Itm(support::Random& random) {
    const unsigned mode = random.byte();
    config.starts_in_sync = (mode & 1) != 0;
    reference = (mode & 2) != 0;
    if (reference) config.quirks = Quirks::reference();
    begins_with_sync = (mode & 4) != 0;
  }

  [[nodiscard]] Parser parser() const { return Parser(config); }
  [[nodiscard]] std::vector<std::uint8_t> beginning() const {
    if (!begins_with_sync) return {};
    return {0, 0, 0, 0, 0, 0x80};
  }
  /// Chunks have an effect on the reference.
  [[nodiscard]] bool exact() const { return !reference; }
  void check(const Parser& parser, const Packet& packet, const fuzz::Parsed& before) const {
    const Bytes bytes = parser.packet_bytes();
    require(!bytes.empty() || config.quirks.empty_unsynchronised, "an empty packet");
    require(!before.last || packet.index >= *before.last, "indexes go back");
    if (is_bad(packet.type) || packet.type < PacketType::kAsync) return;
    if (packet.in_packet) return;  // Too short, because the previous packet took a part of it.
    std::vector<std::uint8_t> encoded;
    require(encode(packet, encoded).has_value(), "a packet that was read cannot be written");
    // Unused bits are written as 0, and reserved headers as the others.
    require(encoded.size() == bytes.size(), "a packet is written in another length");
  }
  void write(TextBuffer& text, const Packet& packet) const {
    write_packet(text, packet, config.quirks);
    if (packet.monitor_only) text.put('*');
  }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }

  Config config;
  bool reference = false;
  bool begins_with_sync = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Itm>(data, size).run();
}
