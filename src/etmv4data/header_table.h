// The packet type that each header byte begins; see etmv4-data.md 2.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/etmv4data/packet.h"

namespace waymark::etmv4data {

struct HeaderRow {
  std::uint8_t mask;
  std::uint8_t value;
  PacketType type;
};

/// An extension (00) begins with its header; its second byte gives the type.
inline constexpr HeaderRow kHeaderRows[] = {
    {0xFF, 0x01, PacketType::kUnnumberedMarker}, {0xFF, 0x02, PacketType::kTimestamp},
    {0xFF, 0x03, PacketType::kSuppression},      {0xFF, 0x04, PacketType::kEvent},
    {0xFC, 0x10, PacketType::kValueF4},          {0xFC, 0x14, PacketType::kAddressF3},
    {0xF8, 0x18, PacketType::kValueF5},          {0xF0, 0x20, PacketType::kValueF1},
    {0xF8, 0x30, PacketType::kValueF2},          {0xF8, 0x38, PacketType::kValueF6},
    {0xE0, 0x40, PacketType::kValueF3},          {0xF0, 0x60, PacketType::kAddressF4},
    {0xF0, 0x70, PacketType::kAddressF1},        {0xC0, 0x80, PacketType::kAddressF2},
    {0xFF, 0xF5, PacketType::kAddressF7},        {0xFE, 0xF6, PacketType::kAddressF6},
    {0xF8, 0xF8, PacketType::kAddressF5}};

inline constexpr auto kTypeOfHeader = [] {
  std::array<PacketType, 256> types{};
  types.fill(PacketType::kReserved);
  for (unsigned header = 0; header < 256; ++header)
    for (const HeaderRow& row : kHeaderRows)
      if ((header & row.mask) == row.value) types[header] = row.type;
  return types;
}();

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
