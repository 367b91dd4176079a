// The header bytes of ITM and DWT as data.  See stm-itm.md 11.
#pragma once

#include <array>

#include "waymark/itm/packet.h"
#include "waymark/protocol/header_pattern.h"

namespace waymark::itm {

struct HeaderRow {
  protocol::HeaderPattern pattern;
  PacketType type;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"0000 0000", PacketType::kAsync},
    {"0111 0000", PacketType::kOverflow},
    {"0xxx 0000", PacketType::kLocalTimestamp},
    {"1xxx 0000", PacketType::kLocalTimestamp},  // 10xx 0000: is_reserved_timestamp().
    {"xxxx x001", PacketType::kSoftware},
    {"xxxx x01x", PacketType::kSoftware},
    {"xxxx x101", PacketType::kHardware},
    {"xxxx x11x", PacketType::kHardware},
    {"xxxx 1x00", PacketType::kExtension},
    {"1001 0100", PacketType::kGlobalTimestamp1},
    {"1011 0100", PacketType::kGlobalTimestamp2},
};

inline constexpr protocol::HeaderPattern kReservedHeaders[] = {"0xxx 0100", "1xx0 0100",
                                                               "11x1 0100"};

inline constexpr std::array<PacketType, 256> kHeaderTypes =
    protocol::map_headers(kHeaderRows, kReservedHeaders, PacketType::kReserved, &HeaderRow::type);

/// 0x80, 0x90, 0xA0, 0xB0: the architecture reserves them.
constexpr bool is_reserved_timestamp(std::uint8_t header) { return (header & 0xCF) == 0x80; }

}  // namespace waymark::itm
