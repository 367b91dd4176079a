// The signal of a pin, made for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "waymark/logic/swo.h"

namespace waymark::logic::testing_signal {

using Octets = std::vector<std::uint8_t>;

/// Levels of whole and half bits, sampled at a rate that need not be a multiple.
class Signal {
 public:
  explicit Signal(double samples_per_bit) : bit_(samples_per_bit) {}

  void level(bool high, double bits) {
    time_ += bits * bit_;
    while (static_cast<double>(samples_.size()) < std::round(time_)) samples_.push_back(high);
  }
  void uart(std::uint8_t byte) {
    level(false, 1);
    for (unsigned i = 0; i != 8; ++i) level((byte >> i & 1) != 0, 1);
    level(true, 1);
  }
  void manchester(const Octets& packet) {
    symbol(true);
    for (const std::uint8_t byte : packet)
      for (unsigned i = 0; i != 8; ++i) symbol((byte >> i & 1) != 0);
    level(false, 1);
    level(false, 2);
  }

  [[nodiscard]] const std::vector<bool>& samples() const { return samples_; }
  [[nodiscard]] std::vector<Run> runs() const {
    std::vector<Run> runs;
    for (const bool high : samples_) {
      if (runs.empty() || runs.back().high != high) runs.push_back({high, 0});
      ++runs.back().samples;
    }
    return runs;
  }

 private:
  void symbol(bool one) {
    level(one, 0.5);
    level(!one, 0.5);
  }

  double bit_;
  double time_ = 0;
  std::vector<bool> samples_;
};

}  // namespace waymark::logic::testing_signal
