// A few bytes of the stream with their places.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "waymark/base/types.h"

namespace waymark::ptm {

/// At most `kMost` bytes, oldest first.  Only the first size() count.
template <std::size_t kMost>
class IndexedBytes {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] const std::array<std::uint8_t, kMost>& bytes() const { return bytes_; }
  /// That of the oldest byte.
  [[nodiscard]] TraceIndex index() const { return indexes_[0]; }

  void push(std::uint8_t byte, TraceIndex index) {
    bytes_[size_] = byte;
    indexes_[size_++] = index;
  }
  /// Removes the oldest.
  void drop(std::size_t count) {
    const auto move = [&](auto& of) {
      std::copy(of.begin() + static_cast<std::ptrdiff_t>(count),
                of.begin() + static_cast<std::ptrdiff_t>(size_), of.begin());
    };
    move(bytes_);
    move(indexes_);
    size_ -= count;
  }
  void reset() { size_ = 0; }

  friend bool operator==(const IndexedBytes& a, const IndexedBytes& b) {
    const auto same = [&](const auto& of_a, const auto& of_b) {
      return std::equal(of_a.begin(), of_a.begin() + static_cast<std::ptrdiff_t>(a.size_),
                        of_b.begin());
    };
    return a.size_ == b.size_ && same(a.bytes_, b.bytes_) && same(a.indexes_, b.indexes_);
  }

 private:
  std::array<std::uint8_t, kMost> bytes_{};
  std::array<TraceIndex, kMost> indexes_{};
  std::size_t size_ = 0;
};

}  // namespace waymark::ptm
