// Divides cycles among instructions.
#pragma once

#include <cstdint>

#include "waymark/base/wide.h"

namespace waymark::count {

/// When n instructions take C cycles, instructions i to j get C*j/n - C*(i-1)/n, both rounded down,
/// so that the sum remains C.
class CycleShare {
 public:
  CycleShare(std::uint64_t cycles, std::uint64_t instructions)
      : cycles_(cycles), instructions_(instructions) {}

  /// The cycles of the next `count` instructions.
  std::uint64_t next(std::uint64_t count) {
    passed_ += count;
    const std::uint64_t due = passed_ >= instructions_ ? cycles_ : due_of(passed_);
    const std::uint64_t share = due - given_;
    given_ = due;
    return share;
  }

 private:
  [[nodiscard]] std::uint64_t due_of(std::uint64_t passed) const {
    // A division of 64 bits is several times faster.
    constexpr std::uint64_t kHalf = 0xFFFF'FFFF;
    if (cycles_ <= kHalf && passed <= kHalf) [[likely]]
      return cycles_ * passed / instructions_;
    return static_cast<std::uint64_t>(Wide{cycles_} * passed / instructions_);
  }

  std::uint64_t cycles_;
  std::uint64_t instructions_;
  std::uint64_t passed_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace waymark::count
