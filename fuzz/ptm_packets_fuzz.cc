// PTM packets: packets_target.h.
#include "packets_target.h"
#include "waymark/ptm/fields.h"
#include "waymark/ptm/parser_inl.h"
#include "waymark/ptm/text.h"

namespace {

using namespace waymark;
using namespace waymark::ptm;
using fuzz::require;

/// Any registers, legal or not.
struct Ptm {
  using Parser = ptm::Parser;
  using Packet = ptm::Packet;
  static constexpr std::size_t kSettings = 13;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = true;
  static constexpr bool kVisitors = true;

  explicit Ptm(support::Random& random) : synchronised((random.byte() & 0x80) != 0) {
    config.etmidr = static_cast<std::uint32_t>(random.bits(32));
    config.etmcr = static_cast<std::uint32_t>(random.bits(32));
    config.etmccer = static_cast<std::uint32_t>(random.bits(32));
  }

  [[nodiscard]] Parser parser() const { return Parser(config); }
  [[nodiscard]] std::vector<std::uint8_t> beginning() const {
    if (!synchronised) return {};
    return {0, 0, 0, 0, 0, 0x80};
  }
  static bool exact() { return true; }
  static void check(const Parser& /*parser*/, const Packet& packet, const fuzz::Parsed& before) {
    require(packet_keyword(packet.type) != "unknown", "a packet of no known type");
    require(packet.type != PacketType::kAtom || (packet.atom_count >= 1 && packet.atom_count <= 5 &&
                                                 packet.atoms >> packet.atom_count == 0),
            "an impossible number of atoms");
    require(
        packet.address.valid_bits <= 32 && packet.address.update_bits <= packet.address.valid_bits,
        "bits out of bounds");
    require(!before.last || packet.index > *before.last, "indexes do not go up");
  }
  static void write(TextBuffer& text, const Packet& packet) {
    write_packet(text, packet);
    if (packet.monitor_only) text.put('*');
  }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }

  Config config;
  bool synchronised = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Ptm>(data, size).run();
}
