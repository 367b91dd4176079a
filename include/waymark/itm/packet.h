// ITM and DWT packets as values.  See stm-itm.md 11 and 12.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::itm {

enum class PacketType : std::uint8_t {
  kNotSync = 0,
  kIncompleteEot = 1,
  kNoErrorType = 2,
  kAsync = 3,
  kOverflow = 4,
  kSoftware = 5,  ///< A write to a stimulus port.
  kHardware = 6,  ///< From the DWT or the PMU.
  kLocalTimestamp = 7,
  kGlobalTimestamp1 = 8,  ///< Bits [25:0].
  kGlobalTimestamp2 = 9,  ///< From bit 26 on.
  kExtension = 10,
  kBadSequence = 11,
  kReserved = 12,
};
inline constexpr std::size_t kPacketTypeCount = 13;

/// Bits of Packet::source in a global timestamp.
inline constexpr std::uint8_t kClockChange = 1 << 0;  ///< The clock frequency changed.
inline constexpr std::uint8_t kClockWrap = 1 << 1;    ///< The upper half changed and will follow.

/// Packet::source of an extension: the hardware bit, and the position of the value's highest bit.
inline constexpr std::uint8_t kExtensionHardware = 0x80;
inline constexpr std::uint8_t kExtensionTopBit = 0x1F;

/// One packet.
///
/// | type | source | value | size: payload bytes |
/// |---|---|---|---|
/// | kSoftware | port, 5 bits | data | 1, 2, 4 |
/// | kHardware | discriminator, 5 bits | data | 1, 2, 4 |
/// | kLocalTimestamp | TC, 2 bits | ticks since the last one | 0: in the header; 1..4 |
/// | kGlobalTimestamp1 | kClockChange, kClockWrap | low bits, 7 per byte | 1..4 |
/// | kGlobalTimestamp2 | | bits from 26 on, 7 per byte | 1..6 |
/// | kExtension | see above | header bits, then 7 per byte | 0..4 |
///
/// For other types these three are 0.
struct Packet {
  TraceIndex index = 0;  ///< That of its first byte.
  std::uint64_t value = 0;
  std::uint32_t length = 0;  ///< In bytes.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< For error packets: what was being read.
  std::uint8_t source = 0;
  std::uint8_t size = 0;
  bool monitor_only = false;  ///< Unsynchronised bytes that only a monitor gets.
  /// Synchronisation: its first zeros are in the previous packet, which was therefore misread.
  bool in_packet = false;

  /// Sets the fields that every packet has, except for the index.
  void begin(PacketType new_type, std::size_t new_length) {
    value = 0;
    length = static_cast<std::uint32_t>(new_length);
    type = new_type;
    error_type = PacketType::kNoErrorType;
    source = 0;
    size = 0;
    monitor_only = false;
    in_packet = false;
  }
};

static_assert(std::is_trivially_copyable_v<Packet>);
static_assert(sizeof(Packet) <= 32);

/// A stimulus port page: a software extension without payload.
constexpr bool is_page(const Packet& packet) {
  return packet.type == PacketType::kExtension && packet.source == 2;
}

constexpr bool is_bad(PacketType type) { return type >= PacketType::kBadSequence; }

}  // namespace waymark::itm
