// The time that timestamp packets update.  See etmv4-ete.md 2.4.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"

namespace waymark::etmv4 {

/// A packet replaces the low bits of the last value.  The first one after a synchronisation point
/// is complete, however short it is.
class TimestampRegister {
 public:
  /// Takes the `width` low bits; returns how many it has replaced.
  unsigned take(std::uint64_t bits, unsigned width) {
    if (complete_next_) width = 64;
    complete_next_ = false;
    value_ = (value_ & ~low_mask(width)) | bits;
    return width;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  void synchronise() { complete_next_ = true; }
  void reset() { *this = {}; }

  friend bool operator==(const TimestampRegister&, const TimestampRegister&) = default;

 private:
  std::uint64_t value_ = 0;
  bool complete_next_ = false;
};

}  // namespace waymark::etmv4
