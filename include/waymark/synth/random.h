// Choices by seed: equal seeds give equal choices on every machine.
#pragma once

#include <cstdint>

namespace waymark::synth {

/// splitmix64 (public domain), with multiplication instead of division for small ranges.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// 0 to `count` - 1; 0 for 0.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>((next() >> 32) * count >> 32);
  }
  /// `from` to `to`, both included.
  std::uint32_t between(std::uint32_t from, std::uint32_t to) {
    return from + below(to - from + 1);
  }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  bool coin() { return (next() >> 63) != 0; }
  bool percent(std::uint32_t chance) { return below(100) < chance; }
  /// A waiting time whose mean is `mean`, at least 1.
  std::uint64_t about(std::uint64_t mean) {
    if (mean <= 1) return 1;
    return 1 + (mean >= (std::uint64_t{1} << 31) ? next() % (2 * mean - 1)
                                                 : below(static_cast<std::uint32_t>(2 * mean - 1)));
  }
  /// The seed of an independent sequence.
  std::uint64_t fork() { return next() ^ 0xD1B54A32D192ED03ULL; }

 private:
  std::uint64_t state_;
};

}  // namespace waymark::synth
