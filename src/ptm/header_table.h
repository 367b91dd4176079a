// The header bytes of PTM as data.  See ptm.md 3.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "waymark/ptm/packet.h"

namespace waymark::ptm {

struct HeaderRow {
  /// Eight characters 0, 1 or x, most significant first; blanks ignored.
  std::string_view pattern;
  PacketType type;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"xxxx xxx1", PacketType::kBranchAddress}, {"1xxx xxx0", PacketType::kAtom},
    {"0000 0000", PacketType::kAsync},         {"0000 1000", PacketType::kIsync},
    {"0000 1100", PacketType::kTrigger},       {"0111 0010", PacketType::kWaypointUpdate},
    {"0110 1110", PacketType::kContextId},     {"0011 1100", PacketType::kVmid},
    {"0100 0x10", PacketType::kTimestamp},     {"0111 0110", PacketType::kExceptionReturn},
    {"0110 0110", PacketType::kIgnore},
};

/// Types by header byte.  A byte without a row is reserved; no byte has two rows.
consteval std::array<PacketType, 256> make_header_types() {
  std::array<PacketType, 256> types{};
  types.fill(PacketType::kReserved);
  for (const HeaderRow& row : kHeaderRows) {
    unsigned fixed = 0;
    unsigned value = 0;
    unsigned digits = 0;
    for (const char c : row.pattern) {
      if (c == ' ') continue;
      ++digits;
      fixed = fixed << 1 | (c == 'x' ? 0U : 1U);
      value = value << 1 | (c == '1' ? 1U : 0U);
    }
    if (digits != 8) throw "A pattern has eight digits.";
    for (unsigned byte = 0; byte < 256; ++byte) {
      if ((byte & fixed) != value) continue;
      if (types[byte] != PacketType::kReserved) throw "Two rows name one byte.";
      types[byte] = row.type;
    }
  }
  return types;
}

inline constexpr std::array<PacketType, 256> kHeaderTypes = make_header_types();

}  // namespace waymark::ptm
