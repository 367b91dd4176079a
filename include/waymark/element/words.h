// Element as the words that it is in memory: eight stores make one, and six comparisons distinguish
// two ranges.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "waymark/element/element.h"

namespace waymark {

static_assert(offsetof(Element, start) == 8 && offsetof(Element, end) == 16 &&
              offsetof(Element, timestamp) == 24 && offsetof(Element, count) == 32 &&
              offsetof(Element, cycle_count) == 36 && offsetof(Element, context_id) == 40 &&
              offsetof(Element, vmid) == 44 && offsetof(Element, kind) == 48 &&
              offsetof(Element, trace_id) == 49 && offsetof(Element, flags) == 50 &&
              offsetof(Element, isa) == 52 && offsetof(Element, last_type) == 53 &&
              offsetof(Element, last_subtype) == 54 && offsetof(Element, last_size) == 55 &&
              offsetof(Element, exception_level) == 56 && offsetof(Element, security) == 57 &&
              sizeof(Element::security) == 1 && sizeof(Element) == 64);

/// Positions in the word of Element::kind: of Element::flags, and of Element::isa and what follows
/// it.
inline constexpr unsigned kFlagsShift = 16;
inline constexpr unsigned kInstructionShift = 32;

/// Element::flags as it is in memory, in the word of a big-endian machine.
constexpr std::uint64_t flag_bytes_swapped(std::uint64_t word) {
  constexpr std::uint64_t kFirst = 0x0000'FF00'0000'0000;
  constexpr std::uint64_t kSecond = 0x0000'00FF'0000'0000;
  return (word & ~(kFirst | kSecond)) | (word & kSecond) << 8 | (word & kFirst) >> 8;
}

/// From the word in memory to one whose first field is in its lowest bits, and back. They differ on
/// big-endian machines, for words of several fields.
constexpr std::uint64_t first_field_lowest(std::uint64_t word, std::size_t offset) {
  if constexpr (std::endian::native == std::endian::big) {
    if (offset == offsetof(Element, count) || offset == offsetof(Element, context_id))
      return std::rotl(word, 32);
    // All fields have one byte, except the flags.
    if (offset == offsetof(Element, kind)) word = flag_bytes_swapped(word);
    if (offset >= offsetof(Element, kind)) word = std::byteswap(word);
  }
  return word;
}
constexpr std::uint64_t first_field_in_memory(std::uint64_t word, std::size_t offset) {
  if constexpr (std::endian::native == std::endian::big) {
    if (offset == offsetof(Element, count) || offset == offsetof(Element, context_id))
      return std::rotl(word, 32);
    if (offset >= offsetof(Element, kind)) word = std::byteswap(word);
    if (offset == offsetof(Element, kind)) word = flag_bytes_swapped(word);
  }
  return word;
}

inline std::uint64_t word_of(const Element& element, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(&element) + offset, sizeof word);
  return first_field_lowest(word, offset);
}

inline void set_word(Element* element, std::size_t offset, std::uint64_t word) {
  word = first_field_in_memory(word, offset);
  std::memcpy(reinterpret_cast<std::uint8_t*>(element) + offset, &word, sizeof word);
}

/// Two words in one store; the first is at `offset`.
inline void set_words(Element* element, std::size_t offset, std::uint64_t first,
                      std::uint64_t second) {
  using Pair [[gnu::vector_size(16)]] = std::uint64_t;
  const Pair pair = {first_field_in_memory(first, offset),
                     first_field_in_memory(second, offset + sizeof first)};
  std::memcpy(reinterpret_cast<std::uint8_t*>(element) + offset, &pair, sizeof pair);
}

}  // namespace waymark
