// Reflected binary numbers.  Fact sheet stm-itm.md section 3.
#pragma once

#include <cstdint>

namespace waymark::stm {

constexpr std::uint64_t to_gray(std::uint64_t value) { return value ^ value >> 1; }

/// Bit i is the parity of the bits from i up.
constexpr std::uint64_t from_gray(std::uint64_t gray) {
  for (unsigned shift = 1; shift < 64; shift *= 2) gray ^= gray >> shift;
  return gray;
}

static_assert(from_gray(to_gray(0x0123456789ABCDEF)) == 0x0123456789ABCDEF);

}  // namespace waymark::stm
