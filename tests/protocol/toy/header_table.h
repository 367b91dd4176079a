// The header bytes of the toy protocol as data.
#pragma once

#include <array>

#include "packet.h"
#include "waymark/protocol/header_pattern.h"

namespace waymark::toy {

struct HeaderRow {
  protocol::HeaderPattern pattern;
  PacketType type;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"1000 xxxx", PacketType::kEvent},
    {"1001 0000", PacketType::kTime},
    {"101x xxxx", PacketType::kValue},
    {"1111 1111", PacketType::kSync},
};

inline constexpr protocol::HeaderPattern kReservedHeaders[] = {
    "0xxx xxxx", "1001 0xx1", "1001 0x10", "1001 0100", "1001 1xxx", "110x xxxx",
    "1110 xxxx", "1111 0xxx", "1111 10xx", "1111 110x", "1111 1110"};

inline constexpr std::array<PacketType, 256> kHeaderTypes =
    protocol::map_headers(kHeaderRows, kReservedHeaders, PacketType::kReserved, &HeaderRow::type);

}  // namespace waymark::toy
