// The work that packets may still cause.
#pragma once

#include <algorithm>
#include <cstdint>

#include "waymark/base/types.h"

namespace waymark::etmv4 {

/// The remaining work that packets may cause beyond their own size: instructions walked
/// without the block cache, entries searched.  Every byte of trace adds to it, so the size of the
/// trace bounds the time to decode it.  Never more than kMost.
class Credit {
 public:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 20;

  /// The trace was read up to `index`.
  void refill(TraceIndex index) {
    constexpr std::uint64_t kPerByte = 64;
    const std::uint64_t bytes = index - std::min(index, refilled_at_);
    if (bytes > kMost / kPerByte) {
      left_ = kMost;
    } else {
      left_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMost, left_ + bytes * kPerByte));
    }
    refilled_at_ = index;
  }
  /// All of it, whatever the trace has.
  void reset(TraceIndex index) {
    left_ = kMost;
    refilled_at_ = index;
  }

  /// False: there is less than that, and nothing was taken.
  bool take(std::uint64_t cost) {
    if (cost > left_) return false;
    left_ -= static_cast<std::uint32_t>(cost);
    return true;
  }
  /// For a walk, which takes one for each instruction.
  [[nodiscard]] std::uint32_t& left() { return left_; }

  friend bool operator==(const Credit&, const Credit&) = default;

 private:
  std::uint32_t left_ = kMost;
  TraceIndex refilled_at_ = 0;
};

}  // namespace waymark::etmv4
