// Numbers, places and texts as bytes, and back.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/cursor.h"
#include "waymark/base/types.h"

namespace waymark::view {

class RecordWriter {
 public:
  /// 7 bits a byte, the least significant first.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void place(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void bytes(Bytes bytes) {
    number(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// After damage, good() is false, and what it gives has no meaning.
class RecordReader {
 public:
  explicit RecordReader(Bytes bytes) : cursor_(bytes) {}

  std::uint64_t number() { return cursor_.continued(10); }
  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value <= most) return value;
    good_ = false;
    return 0;
  }
  template <class T>
  T as(std::uint64_t most) {
    return static_cast<T>(number(most));
  }
  /// A place on the axis, which is finite and not negative.
  double place() {
    const auto value = std::bit_cast<double>(cursor_.little(8));
    if (std::isfinite(value) && value >= 0) return value;
    good_ = false;
    return 0;
  }
  /// The size of a list whose entries have at least one byte.
  std::size_t size() { return static_cast<std::size_t>(number(cursor_.remaining())); }
  Bytes bytes() { return cursor_.take(size()); }
  std::string text() {
    const Bytes text = bytes();
    return {text.begin(), text.end()};
  }
  void require(bool condition) { good_ = good_ && condition; }
  [[nodiscard]] bool good() const { return good_ && !cursor_.overrun(); }
  [[nodiscard]] bool done() const { return good() && cursor_.at_end(); }

 private:
  Cursor cursor_;
  bool good_ = true;
};

}  // namespace waymark::view
