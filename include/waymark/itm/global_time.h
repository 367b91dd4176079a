// The global time of an ITM, which packets state in halves.  See stm-itm.md 14.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "waymark/base/bits.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// There is none before the first upper half: a lower half alone says nothing.  After a loss the
/// time is partial, thus a lower bound, until both halves are known again: a lower half of 26 bits,
/// and an upper half since it last changed.
class GlobalTime {
 public:
  /// As the reference: Quirks::global_time_is_whole and upper_half_alone.
  explicit GlobalTime(bool is_whole = false, bool upper_half_alone = false)
      : counts_as_whole_(is_whole), upper_half_alone_(upper_half_alone) {}

  /// Takes a global timestamp; true: it gives a time.
  bool add(const Packet& packet) {
    return packet.type == PacketType::kGlobalTimestamp1 ? add_lower(packet) : add_upper(packet);
  }

  /// Packets were lost, and perhaps some with bits that later ones do not repeat.
  void lose() {
    if (counts_as_whole_) return;
    lower_bits_ = 0;
    lower_seen_ = upper_known_ = false;
    waits_for_upper_ = !upper_seen_;
  }

  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] bool is_whole() const {
    return lower_bits_ == kLowerBits && (upper_known_ || counts_as_whole_);
  }
  /// Whether the clock has changed since the last call.
  bool take_clock_change() { return std::exchange(clock_change_, false); }

 private:
  static constexpr unsigned kLowerBits = 26;
  static constexpr unsigned kUpperBits = 64 - kLowerBits;

  bool add_lower(const Packet& packet) {
    const unsigned width = std::min(7U * packet.size, kLowerBits);
    const std::uint64_t mask = low_mask(width);
    lower_bits_ = std::max(lower_bits_, static_cast<std::uint8_t>(width));
    value_ = (value_ & ~mask) | (packet.value & mask);
    lower_seen_ = true;
    clock_change_ = clock_change_ || (packet.source & kClockChange) != 0;
    // The upper half has changed, and follows.
    waits_for_upper_ = waits_for_upper_ || (packet.source & kClockWrap) != 0;
    return !waits_for_upper_;
  }

  bool add_upper(const Packet& packet) {
    const std::uint64_t upper = (packet.value & low_mask(kUpperBits)) << kLowerBits;
    std::uint64_t lower = value_ & low_mask(kLowerBits);
    // Bits of the lower half that were not sent since a loss belong to the previous upper half.
    if (!counts_as_whole_ && upper != (value_ & ~low_mask(kLowerBits)))
      lower &= low_mask(lower_bits_);
    value_ = upper | lower;
    waits_for_upper_ = false;
    upper_known_ = upper_seen_ = true;
    return lower_seen_ || upper_half_alone_;
  }

  bool counts_as_whole_;
  bool upper_half_alone_;
  std::uint64_t value_ = 0;
  std::uint8_t lower_bits_ = 0;  ///< The number of low bits that were sent since a loss.
  bool lower_seen_ = false;      ///< Since a loss.
  bool upper_known_ = false;
  bool upper_seen_ = false;  ///< Also before a loss.
  /// None has come, or a lower half said that the upper half has changed.
  bool waits_for_upper_ = true;
  bool clock_change_ = false;
};

}  // namespace waymark::itm
