// Packets to nibbles: the inverse of the parser.  See stm-itm.md 1 to 4.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

/// Packets are not aligned to bytes, and a timestamp depends on the one before it, so an encoder
/// holds the state of one stream.  One owner; not thread safe.
class Encoder {
 public:
  /// For Packet::timestamp_bits: as few nibbles as turn the old timestamp into the new one.
  static constexpr std::uint8_t kFewestBits = 0xFF;

  /// kAuto means kMostFirst.
  explicit Encoder(NibbleOrder order = NibbleOrder::kMostFirst)
      : wanted_least_first_(order == NibbleOrder::kLeastFirst), least_first_(wanted_least_first_) {}

  /// Appends a packet to `out`, which is unchanged after an error.  If the previous packet ended
  /// within a byte, this one begins in the upper nibble of the last byte of `out`.  A free upper
  /// nibble is 0, which is a NULL packet: a stream may end there.
  ///
  /// `type`, `marker`, `has_timestamp` and `payload` are used unchanged; `payload_bits` only for
  /// USER packets and extended versions, `timestamp` only with `has_timestamp`.  The low
  /// `timestamp_bits` of a timestamp are sent (of the difference in version 2), in the encoding of
  /// the last VERSION packet; before any, in natural binary.
  ///
  /// kInvalidArgument: the type is not that of a packet, the combination has no opcode, or a field
  /// cannot hold its value.
  Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out);

  /// Appends a nibble unchanged, for streams with errors.
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
