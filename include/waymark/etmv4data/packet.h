// Packets of the ETMv4 data stream as values.  See etmv4-data.md 2 and 4.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::etmv4data {

/// Values from etmv4-data.md 2: the base header byte, or 0x100 and the second byte of an
/// extension.
enum class PacketType : std::uint16_t {
  kUnnumberedMarker = 0x01,
  kTimestamp = 0x02,
  kSuppression = 0x03,
  kEvent = 0x04,
  kValueF4 = 0x10,    ///< P2, format 4.
  kAddressF3 = 0x14,  ///< P1, format 3.
  kValueF5 = 0x18,
  kValueF1 = 0x20,
  kValueF2 = 0x30,
  kValueF6 = 0x38,
  kValueF3 = 0x40,
  kAddressF4 = 0x60,
  kAddressF1 = 0x70,
  kAddressF2 = 0x80,
  kAddressF7 = 0xF5,
  kAddressF6 = 0xF6,
  kAddressF5 = 0xF8,
  kAsync = 0x100,
  kTraceInfo = 0x101,
  kDiscard = 0x103,
  kOverflow = 0x105,
  kNumberedMarker = 0x111,
  kNotSync = 0x200,
  kBadSequence = 0x201,
  kReserved = 0x203,
  kIncompleteEot = 0x204,
  kNoErrorType = 0x206,
  /// A type of our own: bytes from a packet of unknown layout up to the next synchronisation.
  kUnknown = 0x300,
};

/// One packet.
struct Packet {
  TraceIndex index = 0;         ///< That of its first byte.
  std::uint64_t timestamp = 0;  ///< The whole value after the update.
  std::uint32_t length = 0;     ///< In bytes.
  PacketType type = PacketType::kNotSync;
  /// For error packets and kUnknown: what the first byte begins.
  PacketType error_type = PacketType::kNoErrorType;
  std::uint8_t marker = 0;          ///< Numbered marker: 3 bits.
  std::uint8_t timestamp_bits = 0;  ///< Number of low bits in the packet.
  bool continues = false;           ///< kUnknown: more bytes of the same gap.
  bool monitor_only = false;        ///< Unsynchronised bytes that only a monitor gets.

  /// Sets the fields that every packet has, except for the index.
  void begin(PacketType new_type, std::size_t new_length) {
    length = static_cast<std::uint32_t>(new_length);
    type = new_type;
    error_type = PacketType::kNoErrorType;
    marker = 0;
    timestamp_bits = 0;
    continues = false;
    monitor_only = false;
  }
};

static_assert(std::is_trivially_copyable_v<Packet>);

constexpr bool is_bad(PacketType type) {
  return type == PacketType::kBadSequence || type == PacketType::kReserved;
}

}  // namespace waymark::etmv4data
