// The packet type that each header byte begins; see etmv4-data.md 2.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/etmv4data/packet.h"
#include "waymark/protocol/header_pattern.h"

namespace waymark::etmv4data {

struct HeaderRow {
  protocol::HeaderPattern pattern;
  PacketType type;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"0000 0001", PacketType::kUnnumberedMarker}, {"0000 0010", PacketType::kTimestamp},
    {"0000 0011", PacketType::kSuppression},      {"0000 0100", PacketType::kEvent},
    {"0001 00xx", PacketType::kValueF4},          {"0001 01xx", PacketType::kAddressF3},
    {"0001 1xxx", PacketType::kValueF5},          {"0010 xxxx", PacketType::kValueF1},
    {"0011 0xxx", PacketType::kValueF2},          {"0011 1xxx", PacketType::kValueF6},
    {"010x xxxx", PacketType::kValueF3},          {"0110 xxxx", PacketType::kAddressF4},
    {"0111 xxxx", PacketType::kAddressF1},        {"10xx xxxx", PacketType::kAddressF2},
    {"1111 0101", PacketType::kAddressF7},        {"1111 011x", PacketType::kAddressF6},
    {"1111 1xxx", PacketType::kAddressF5}};

/// 00 begins an extension, whose second byte gives the type.
inline constexpr protocol::HeaderPattern kReservedHeaders[] = {
    "0000 0000", "0000 01x1", "0000 0110", "0000 1xxx",
    "110x xxxx", "1110 xxxx", "1111 00xx", "1111 0100"};

inline constexpr std::array<PacketType, 256> kTypeOfHeader =
    protocol::map_headers(kHeaderRows, kReservedHeaders, PacketType::kReserved, &HeaderRow::type);

constexpr PacketType type_of_extension(std::uint8_t second) {
  switch (second) {
    case 0x00:
      return PacketType::kAsync;
    case 0x01:
      return PacketType::kTraceInfo;
    case 0x03:
      return PacketType::kDiscard;
    case 0x05:
      return PacketType::kOverflow;
    default:
      return (second & 0xF1) == 0x11 ? PacketType::kNumberedMarker : PacketType::kReserved;
  }
}

}  // namespace waymark::etmv4data
