// Divides cycles among instructions.
#pragma once

#include <cstdint>

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
    const std::uint64_t due =
        passed_ >= instructions_
            ? cycles_
            : static_cast<std::uint64_t>(Wide{cycles_} * passed_ / instructions_);
    const std::uint64_t share = due - given_;
    given_ = due;
    return share;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t cycles_;
  std::uint64_t instructions_;
  std::uint64_t passed_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace waymark::count
