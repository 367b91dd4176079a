// ETMv4 and ETE packets: packets_target.h.
#include "packets_target.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/parser_inl.h"
#include "waymark/etmv4/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv4;
using fuzz::require;

/// Any registers, legal or not.
struct Etmv4 {
  using Parser = etmv4::Parser;
  using Packet = etmv4::Packet;
  static constexpr std::size_t kSettings = 25;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = true;
  static constexpr bool kVisitors = true;

  explicit Etmv4(support::Random& random) {
    const unsigned mode = random.byte();
    synchronised = (mode & 0x80) != 0;
    config.ete = (mode & 1) != 0;
    config.core.arch = (mode & 2) != 0 ? isa::Arch::kV8 : isa::Arch::kV7;
    config.core.profile = (mode & 4) != 0 ? isa::Profile::kM : isa::Profile::kA;
    for (std::uint32_t* reg : {&config.trcdevarch, &config.trcidr0, &config.trcidr1,
                               &config.trcidr2, &config.trcidr8, &config.trcconfigr}) {
      *reg = static_cast<std::uint32_t>(random.bits(32));
    }
    if ((mode & 8) != 0) {
      // A usual version instead of any.
      config.trcdevarch = (config.trcdevarch & ~0xFF000U) | 0x5000U | (mode >> 4 & 3U) << 16;
      config.trcidr1 = (config.trcidr1 & ~0xFF0U) | 0x400U | (mode >> 4 & 7U) << 4;
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
    require(packet_keyword(packet.type) != "unknown", "a packet of no known type");
    require(packet.atom_count <= 24 && packet.address.is <= 1, "a field out of bounds");
    require(
        packet.atom_count == 24 || packet.atoms >> packet.atom_count == 0 || packet.atom_count == 0,
        "more atoms than counted");
    // Equal at the zeros dropped before an async; see etmv4-ete.md 2.2.
    require(!before.last || packet.index >= *before.last, "indexes go back");
  }
  void write(TextBuffer& text, const Packet& packet) const {
    write_packet(text, packet, config);
    if (packet.monitor_only) text.put('*');
  }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }

  Config config;
  bool synchronised = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Etmv4>(data, size).run();
}
