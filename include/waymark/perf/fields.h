// The fields of a record, in the byte order of the machine that wrote it.
#pragma once

#include <cstdint>
#include <string>

#include "waymark/base/cursor.h"
#include "waymark/base/types.h"

namespace waymark::perf {

enum class ByteOrder : std::uint8_t { kLittle, kBig };

/// Reads forward; as Cursor, a read past the end gives zero and sets overrun().
class Fields {
 public:
  Fields(Bytes bytes, ByteOrder order) : cursor_(bytes), order_(order) {}

  std::uint8_t u8() { return cursor_.u8(); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  Bytes take(std::size_t count) { return cursor_.take(count); }
  void skip(std::size_t count) { static_cast<void>(cursor_.take(count)); }

  /// The text up to a zero byte, or all of `bytes`.
  static std::string text(Bytes bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) {
      if (byte == 0) break;
      out.push_back(static_cast<char>(byte));
    }
    return out;
  }

  [[nodiscard]] std::size_t remaining() const { return cursor_.remaining(); }
  [[nodiscard]] bool overrun() const { return cursor_.overrun(); }

 private:
  std::uint64_t number(unsigned count) {
    if (order_ == ByteOrder::kLittle) return cursor_.little(count);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value = value << 8 | cursor_.u8();
    return value;
  }

  Cursor cursor_;
  ByteOrder order_;
};

}  // namespace waymark::perf
