// The one checked reader over the bytes of programs, in either byte order.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark::program {

/// Reads forward.  A read past the end gives zero and clears ok(); the position then stays at the
/// end.
class ByteReader {
 public:
  ByteReader(Bytes bytes, bool big_endian, std::uint64_t position = 0)
      : bytes_(bytes), big_endian_(big_endian) {
    seek(position);
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  void seek(std::uint64_t position) {
    if (position > bytes_.size()) {
      ok_ = false;
      position = bytes_.size();
    }
    position_ = static_cast<std::size_t>(position);
  }
  void skip(std::uint64_t count) {
    if (count > remaining()) {
      ok_ = false;
      count = remaining();
    }
    position_ += static_cast<std::size_t>(count);
  }

  std::uint8_t u8() { return fixed<std::uint8_t>(); }
  std::uint16_t u16() { return fixed<std::uint16_t>(); }
  std::uint32_t u32() { return fixed<std::uint32_t>(); }
  std::uint64_t u64() { return fixed<std::uint64_t>(); }
  /// `size`: 1 to 8.
  std::uint64_t integer(unsigned size) {
    switch (size) {
      case 1:
        return u8();
      case 2:
        return u16();
      case 4:
        return u32();
      case 8:
        return u64();
      default:
        break;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      const std::uint64_t byte = u8();
      value = big_endian_ ? value << 8 | byte : value | byte << (8 * i);
    }
    return value;
  }
  /// LEB128.  Bits above 63 are lost.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }
  /// Up to a NUL, which is passed too.
  std::string_view text() {
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data() + position_);
    const void* const end = at_end() ? nullptr : std::memchr(begin, 0, remaining());
    if (end == nullptr) {
      skip(remaining() + 1);
      return {};
    }
    const std::string_view text(begin,
                                static_cast<std::size_t>(static_cast<const char*>(end) - begin));
    position_ += text.size() + 1;
    return text;
  }
  Bytes take(std::uint64_t count) {
    const std::size_t begin = position_;
    skip(count);
    return bytes_.subspan(begin, position_ - begin);
  }

 private:
  template <std::unsigned_integral T>
  T fixed() {
    if (remaining() < sizeof(T)) [[unlikely]] {
      ok_ = false;
      position_ = bytes_.size();
      return 0;
    }
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    if constexpr (sizeof(T) > 1) {
      if (big_endian_ != (std::endian::native == std::endian::big)) value = std::byteswap(value);
    }
    return value;
  }

  Bytes bytes_;
  std::size_t position_ = 0;
  bool big_endian_;
  bool ok_ = true;
};

}  // namespace waymark::program
