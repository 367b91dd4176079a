// Bit fields, written as the manuals write them.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace waymark {

/// The field [High:Low] of a register or byte.
template <unsigned High, unsigned Low, std::unsigned_integral T>
constexpr T bits(T value) {
  static_assert(High >= Low && High < sizeof(T) * 8);
  constexpr unsigned kWidth = High - Low + 1;
  constexpr auto kMask = static_cast<T>(kWidth >= sizeof(T) * 8 ? ~T{0} : (T{1} << kWidth) - 1);
  return static_cast<T>((value >> Low) & kMask);
}

template <unsigned Position, std::unsigned_integral T>
constexpr bool bit(T value) {
  static_assert(Position < sizeof(T) * 8);
  return ((value >> Position) & 1) != 0;
}

/// The unsigned number at `at`, least significant byte first.
template <std::unsigned_integral T>
T load_le(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

/// The `count` low bits set, for 0 <= count <= 64.
constexpr std::uint64_t low_mask(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Reflected binary numbers: one bit differs from each to the next.
constexpr std::uint64_t to_gray(std::uint64_t value) { return value ^ value >> 1; }

/// Bit i is the parity of the bits from i up.
constexpr std::uint64_t from_gray(std::uint64_t gray) {
  for (unsigned shift = 1; shift < 64; shift *= 2) gray ^= gray >> shift;
  return gray;
}
static_assert(from_gray(to_gray(0x0123456789ABCDEF)) == 0x0123456789ABCDEF);

/// `value` as a two's complement number of `width` bits, 1 <= width <= 64.
constexpr std::uint64_t sign_extend(std::uint64_t value, unsigned width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  return ((value & low_mask(width)) ^ sign) - sign;
}

}  // namespace waymark
