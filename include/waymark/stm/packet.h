// STPv2 packets as values.  See stm-itm.md 2 to 5.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::stm {

/// The values up to kReserved are the reference's.  The type does not include whether a packet has
/// a marker or a timestamp: D8, D8M, D8TS and D8MTS are all kD8.
enum class PacketType : std::uint8_t {
  kNotSync = 0,        ///< Not a packet: bytes before the first synchronisation.
  kIncompleteEot = 1,  ///< The trace ends within a packet.
  kNoErrorType = 2,
  kAsync = 3,
  kVersion = 4,
  kFreq = 5,
  kNull = 6,
  kTrig = 7,
  kGerr = 8,
  kMerr = 9,
  kM8 = 10,
  kC8 = 11,
  kC16 = 12,
  kFlag = 13,
  kD4 = 14,
  kD8 = 15,
  kD16 = 16,
  kD32 = 17,
  kD64 = 18,
  kBadSequence = 19,
  kReserved = 20,
  // Packets of STPv2.1 to 2.4 that CoreSight hardware does not send.
  kM16 = 21,
  kFreq40 = 22,
  kUser = 23,
  kXsync = 24,
  kDip = 25,
  kCerr = 26,
  // Only their opcodes: no public document gives their length.
  kTime = 27,
  kPdid = 28,
};
inline constexpr std::size_t kPacketTypeCount = 29;

/// A problem of a packet, or a fact that is not known about it.
enum class Defect : std::uint8_t {
  kNone,
  kReservedHeader,
  kUnknownLayout,  ///< TIME and PDID packets, which are not bad: the next ASYNC is searched for.
  kBadAsync,       ///< FF that does not continue with 21 F nibbles and a 0.
  kTimestampSize,  ///< Length nibble 15.
  /// A timestamp before any VERSION packet stated the encoding.  The packet is good, but its time
  /// is not decoded (with Quirks::coresight_packets_only it is bad).
  kTimestampEncoding,
  kVersion,  ///< A VERSION whose encoding is not known.
  kTooLong,  ///< More F nibbles than Parser::kMaxPacketBytes holds.
  /// In an ASYNC, which is not bad: it began within the previous packet, so packets before it were
  /// misread.
  kAsyncInPacket,
  /// In a good packet: it shows that earlier fields were read in the wrong nibble order.
  kOrderFound,
};

/// The timestamp encodings of the VERSION packet, in its low three bits.
enum class TimestampEncoding : std::uint8_t {
  kUnknown = 0,
  kNaturalDelta = 2,  ///< Natural binary, added to the last one.
  kNatural = 3,       ///< Natural binary, replaces the low bits.
  kGray = 4,          ///< Reflected binary, replaces the low bits.
};

/// One packet.
struct Packet {
  TraceIndex index = 0;
  /// D*, TRIG, MERR, GERR, FREQ, USER, XSYNC, CERR: the payload.  M8, M16, C8, C16: the field as
  /// sent.  VERSION: its nibble, or the 12 bits of an extended one.
  std::uint64_t payload = 0;
  std::uint64_t timestamp = 0;  ///< The whole value after the packet.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< For bad packets: what was being read.
  Defect defect = Defect::kNone;
  std::uint8_t payload_bits = 0;
  std::uint8_t timestamp_bits = 0;  ///< Number of low bits in the packet, before decoding.
  bool has_timestamp = false;
  bool marker = false;
  bool upper = false;         ///< The packet begins in the upper nibble of its first byte.
  std::uint16_t master = 0;   ///< After the packet.
  std::uint16_t channel = 0;  ///< After the packet.
  std::uint16_t nibbles = 0;  ///< The length of the whole packet.

  /// The number of bytes that it touches.
  [[nodiscard]] std::size_t length() const { return (nibbles + (upper ? 2U : 1U)) / 2; }
};

static_assert(std::is_trivially_copyable_v<Packet>);
static_assert(sizeof(Packet) == 40);

/// The timestamp was sent, but its value is not known.
constexpr bool lacks_time(const Packet& packet) {
  return packet.has_timestamp && packet.defect == Defect::kTimestampEncoding;
}

/// True for the types that the reference counts as bad.
constexpr bool is_bad(PacketType type) {
  return type == PacketType::kBadSequence || type == PacketType::kReserved;
}

}  // namespace waymark::stm
