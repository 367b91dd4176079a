// Reads many nibbles at a time, with unaligned loads, from a stream that has the low nibble of a
// byte first.  See stm-itm.md 1.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace waymark::stm {

/// The position of a nibble: position / 2 is its byte, and odd positions are upper nibbles.
using NibblePosition = std::size_t;

/// The 16 nibbles from `position` on, the first in bits [3:0].  Reads nine bytes.
inline std::uint64_t load_nibbles(const std::uint8_t* bytes, NibblePosition position) {
  const std::uint8_t* at = bytes + position / 2;
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, at, sizeof word);
  } else {
    for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{at[i]} << (8 * i);
  }
  const unsigned shift = (position & 1) * 4;
  // Two shifts, because a shift by 64 would be undefined.
  return word >> shift | std::uint64_t{at[8]} << 1 << (63 - shift);
}

inline unsigned nibble_at(const std::uint8_t* bytes, NibblePosition position) {
  return bytes[position / 2] >> ((position & 1) * 4) & 0xFU;
}

/// Reverses the order of the 16 nibbles.
inline std::uint64_t reverse_nibbles(std::uint64_t value) {
  value = __builtin_bswap64(value);
  constexpr std::uint64_t kLow = 0x0F0F0F0F0F0F0F0F;
  return (value & kLow) << 4 | (value >> 4 & kLow);
}

/// The value of the `count` nibbles in the low bits of `raw`, which are in stream order; 1 <= count
/// <= 16.  The upper bits of `raw` are ignored.
inline std::uint64_t field_value(std::uint64_t raw, unsigned count, bool least_first) {
  const unsigned unused = 64 - 4 * count;
  return least_first ? raw << unused >> unused : reverse_nibbles(raw) >> unused;
}

}  // namespace waymark::stm
