// Element as the words that it is in memory: eight stores make one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "waymark/etmv3/decoder.h"

namespace waymark::etmv3 {

static_assert(std::endian::native == std::endian::little);
static_assert(offsetof(Element, start) == 8 && offsetof(Element, end) == 16 &&
              offsetof(Element, timestamp) == 24 && offsetof(Element, count) == 32 &&
              offsetof(Element, cycle_count) == 36 && offsetof(Element, context_id) == 40 &&
              offsetof(Element, kind) == 48 && offsetof(Element, flags) == 50 &&
              offsetof(Element, isa) == 52 && offsetof(Element, last_type) == 53 &&
              offsetof(Element, last_subtype) == 54 && offsetof(Element, last_size) == 55 &&
              offsetof(Element, exception_level) == 56 && sizeof(Element) == 64);

constexpr unsigned kFlagsShift = 16;  ///< Of Element::flags in the word of Element::kind.

inline std::uint64_t word_of(const Element& element, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(&element) + offset, sizeof word);
  return word;
}
inline void set_word(Element* element, std::size_t offset, std::uint64_t word) {
  std::memcpy(reinterpret_cast<std::uint8_t*>(element) + offset, &word, sizeof word);
}

inline Quad quad_of(std::uint64_t low, std::uint64_t high) {
  return Quad{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
              static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
}

}  // namespace waymark::etmv3
