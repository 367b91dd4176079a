// MTB records: packets_target.h.  Also, what the encoder makes of a record are its bytes.
#include "packets_target.h"
#include "waymark/mtb/encoder.h"
#include "waymark/mtb/fields.h"
#include "waymark/mtb/parser.h"
#include "waymark/mtb/text.h"

namespace {

using namespace waymark;
using namespace waymark::mtb;
using fuzz::require;

struct Mtb {
  using Parser = mtb::Parser;
  using Packet = mtb::Packet;
  static constexpr std::size_t kSettings = 0;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = false;
  static constexpr bool kVisitors = false;

  explicit Mtb(support::Random& /*random*/) {}

  [[nodiscard]] static Parser parser() { return {}; }
  [[nodiscard]] static std::vector<std::uint8_t> beginning() { return {}; }
  static bool exact() { return true; }
  static void check(const Parser& parser, const Packet& packet, const fuzz::Parsed& before) {
    require(packet.index == before.bytes.size(), "an index out of place");
    if (packet.type == PacketType::kIncompleteEot) return;
    std::vector<std::uint8_t> bytes;
    require(encode(packet, bytes).has_value(), "a record that cannot be encoded");
    require(std::ranges::equal(bytes, parser.packet_bytes()), "a record becomes other bytes");
  }
  static void write(TextBuffer& text, const Packet& packet) { write_packet(text, packet); }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Mtb>(data, size).run();
}
