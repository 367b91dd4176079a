// One number for a sequence of elements, so that both sides can show that they decoded the same.
#pragma once

#include <cstdint>

namespace waymark::bench {

/// Adds one element to the checksum of its source.  A multiplication and an addition cost a few
/// cycles, the same on both sides.
constexpr std::uint64_t fold(std::uint64_t sum, std::uint64_t kind, std::uint64_t start,
                             std::uint64_t end) {
  return sum * 0x9E3779B97F4A7C15U + (start ^ (end << 1) ^ (kind << 56));
}

}  // namespace waymark::bench
