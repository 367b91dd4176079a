#include "waymark/mtb/text.h"

#include <array>

namespace waymark::mtb {
namespace {

/// The name of the source of a record.
struct Row {
  std::string_view name;
  std::string_view source{};
};

constexpr std::array<Row, 6> kRows = {{{"MTB_BRANCH", "src"},
                                       {"MTB_EXCEPT", "ret"},
                                       {"MTB_EXC_RTN", "EXC_RETURN"},
                                       {"MTB_FNC_RTN", "FNC_RETURN"},
                                       {"MTB_UNUSED"},
                                       {"MTB_INCOMPLETE_EOT"}}};

}  // namespace

std::string_view packet_name(PacketType type) { return kRows[static_cast<std::size_t>(type)].name; }

void write_packet(TextBuffer& out, const Packet& packet) {
  const Row& row = kRows[static_cast<std::size_t>(packet.type)];
  out.put(row.name);
  if (packet.type == PacketType::kUnused) out.put(packet.ones ? " : all ones" : " : all zeros");
  if (!is_record(packet.type)) return;
  out.put(" : ");
  out.put(row.source);
  out.put("=0x");
  out.hex(packet.source, 8);
  out.put("; dst=0x");
  out.hex(packet.destination, 8);
  out.put(packet.type == PacketType::kBranch ? "; A=0" : "; A=1");
  out.put(packet.start ? "; S=1" : "; S=0");
}

}  // namespace waymark::mtb
