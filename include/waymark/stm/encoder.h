// Packets to nibbles: the parser's mirror.  See stm-itm.md 1 to 4.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

/// Packets follow each other without regard to bytes, and a timestamp depends on the one before it:
/// an encoder is the state of one stream.  One owner; not thread safe.
class Encoder {
 public:
  /// As Packet::timestamp_bits: as few nibbles as make the new timestamp out of the old one.
  static constexpr std::uint8_t kFewestBits = 0xFF;

  /// kAuto is kMostFirst.
  explicit Encoder(NibbleOrder order = NibbleOrder::kMostFirst)
      : wanted_least_first_(order == NibbleOrder::kLeastFirst), least_first_(wanted_least_first_) {}

  /// Appends a packet to `out`, which is unchanged after an error.  If the packet before ended
  /// within a byte, this one begins in the upper nibble of the last byte of `out`.  A free upper
  /// nibble is 0, which is a NULL packet: a stream may end there.
  ///
  /// `type`, `marker`, `has_timestamp` and `payload` are taken as they stand; `payload_bits` only
  /// of USER packets and extended versions, `timestamp` only where `has_timestamp`.  Of a
  /// timestamp, the low `timestamp_bits` are sent (the difference in version 2), as VERSION packets
  /// before it say; before any, as natural binary.
  ///
  /// kInvalidArgument: a type that is no packet, a combination that has no opcode, or a value that
  /// its field cannot hold.
  Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out);

  /// Nibbles as they stand, for streams with errors.
  void raw_nibble(unsigned nibble, std::vector<std::uint8_t>& out);

  /// The last byte of `out` has a free upper nibble.
  [[nodiscard]] bool half() const { return half_; }
  /// The next packet begins with a new byte.
  void align() { half_ = false; }

 private:
  void field(std::uint64_t value, unsigned nibbles, std::vector<std::uint8_t>& out);
  Result<void> timestamp(const Packet& packet, std::vector<std::uint8_t>& out);

  bool wanted_least_first_;
  bool least_first_;
  bool half_ = false;
  TimestampEncoding encoding_ = TimestampEncoding::kNatural;
  std::uint64_t timestamp_ = 0;
};

}  // namespace waymark::stm
