// ETMv3 packets, natively or with the quirks of the reference: packets_target.h.
#include "packets_target.h"
#include "waymark/etmv3/fields.h"
#include "waymark/etmv3/parser.h"
#include "waymark/etmv3/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv3;
using fuzz::require;

/// Any registers, legal or not.
struct Etmv3 {
  using Parser = etmv3::Parser;
  using Packet = etmv3::Packet;
  static constexpr std::size_t kSettings = 14;
  static constexpr bool kNibbles = false;
  static constexpr bool kBatches = false;
  static constexpr bool kVisitors = true;

  explicit Etmv3(support::Random& random) {
    const unsigned mode = random.byte();
    reference = (mode & 1) != 0;
    if (reference) quirks = ParserQuirks::reference();
    // All inputs for the reference: before the first A-sync its packets depend on the chunks.
    synchronised = reference || (mode & 2) != 0;
    if ((random.byte() & 4) != 0) config.core.profile = isa::Profile::kM;
    config.etmcr = static_cast<std::uint32_t>(random.bits(32));
    config.etmidr = static_cast<std::uint32_t>(random.bits(32));
    config.etmccer = static_cast<std::uint32_t>(random.bits(32));
  }

  [[nodiscard]] Parser parser() const { return Parser(config, quirks); }
  [[nodiscard]] std::vector<std::uint8_t> beginning() const {
    if (!synchronised) return {};
    return {0, 0, 0, 0, 0, 0x80};
  }
  static bool exact() { return true; }
  static void check(const Parser& /*parser*/, const Packet& packet, const fuzz::Parsed& before) {
    require(packet_keyword(packet.type) != "unknown", "a packet of no known type");
    require(packet.atom_count <= 16 && packet.address.valid_bits <= 32, "a field out of bounds");
    require(packet.atoms >> packet.atom_count == 0 || packet.atom_count == 0,
            "more atoms than counted");
    require(!before.last || packet.index > *before.last, "indexes do not go up");
  }
  void write(TextBuffer& text, const Packet& packet) const {
    write_packet(text, packet, config, quirks);
  }
  static auto fields(const Packet& packet) { return fields_of(packet.type); }

  Config config;
  ParserQuirks quirks;
  bool reference = false;
  bool synchronised = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::PacketsInput<Etmv3>(data, size).run();
}
