// The header bytes of PTM as data.  See ptm.md 3.
#pragma once

#include <array>

#include "waymark/protocol/header_pattern.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

struct HeaderRow {
  protocol::HeaderPattern pattern;
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

inline constexpr protocol::HeaderPattern kReservedHeaders[] = {
    "0000 0100", "0000 xx10", "0001 xxx0", "0010 xxx0", "0011 0xx0", "0011 10x0", "0011 1110",
    "0100 xx00", "0100 1x10", "0101 xxx0", "0110 xx00", "0110 x010", "0111 xx00", "0111 1x10"};

inline constexpr std::array<PacketType, 256> kHeaderTypes =
    protocol::map_headers(kHeaderRows, kReservedHeaders, PacketType::kReserved, &HeaderRow::type);

}  // namespace waymark::ptm
