// A source of choices: pseudo-random from a seed, or the bytes of a fuzzer's input.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "waymark/base/types.h"

namespace waymark::support {

/// Equal seeds, or equal bytes, give equal choices on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Chooses by `bytes`; after their end, every choice is 0.
  explicit Random(Bytes bytes) : bytes_(bytes), fixed_(true) {}

  std::uint64_t bits(unsigned count) {
    const std::uint64_t value = fixed_ ? take((count + 7) / 8) : next();
    return count >= 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(bits(8)); }

  /// 0 to `count` - 1.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(bits(count <= 256 ? 8 + 8 * !fixed_ : 32) % count);
  }
  /// `from` to `to`, both included.
  std::uint32_t between(std::uint32_t from, std::uint32_t to) {
    return from + below(to - from + 1);
  }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  bool coin() { return below(2) != 0; }

  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::uint32_t>(choices.size()))];
  }

  /// A value of at most `width` bits; small values and those with few bytes are common.
  std::uint64_t value(unsigned width) { return bits(between(0, width)); }

 private:
  // splitmix64, in the public domain.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint64_t take(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count && !bytes_.empty(); ++i) {
      value |= std::uint64_t{bytes_.front()} << (8 * i);
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }

  std::uint64_t state_ = 0;
  Bytes bytes_;
  bool fixed_ = false;
};

}  // namespace waymark::support
