// The places to which exceptions are expected to return.  See mtb.md 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace waymark::mtb {

/// Bounded: the oldest place is forgotten first.
class Interrupted {
 public:
  static constexpr std::size_t kMost = 8;

  /// `it`: the instructions left there in the IT block.
  void push(std::uint32_t address, std::uint8_t it) {
    if (count_ == kMost) remove(0);
    places_[count_++] = {address, it};
  }
  /// Forgets the place at this address, and returns its `it`.  A kernel resumes other threads than
  /// the one that was interrupted last, so it may be any place.
  std::optional<std::uint8_t> take(std::uint32_t address) {
    for (std::size_t i = count_; i != 0; --i) {
      if (places_[i - 1].address != address) continue;
      const std::uint8_t it = places_[i - 1].it;
      remove(i - 1);
      return it;
    }
    return std::nullopt;
  }

 private:
  struct Place {
    std::uint32_t address = 0;
    std::uint8_t it = 0;
  };
  void remove(std::size_t at) {
    for (--count_; at != count_; ++at) places_[at] = places_[at + 1];
  }

  std::array<Place, kMost> places_{};
  std::size_t count_ = 0;
};

}  // namespace waymark::mtb
