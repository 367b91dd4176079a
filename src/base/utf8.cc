#include "waymark/base/utf8.h"

#include <bit>

#include "waymark/base/bits.h"

namespace waymark {

Utf8Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {.code = first, .length = 1};
  const auto length = static_cast<std::size_t>(std::countl_one(first));
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    code = code << 6 | (byte & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return {};
  return {.code = code, .length = length};
}

std::size_t plain_length(std::string_view text, bool quotable) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  // Sets the high bits of bytes with this value, and possibly of some bytes above the lowest of
  // them.
  const auto equal = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t difference = word ^ (byte * kOnes);
    return (difference - kOnes) & ~difference;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const auto word = load_le<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(&text[at]));
    std::uint64_t other = word | (word + kOnes) | ((word - 0x20 * kOnes) & ~word);
    if (quotable) other |= equal(word, '"') | equal(word, '\\');
    other &= kHigh;
    if (other != 0) return at + static_cast<std::size_t>(std::countr_zero(other)) / 8;
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x7F || (quotable && (byte == '"' || byte == '\\'))) break;
  }
  return at;
}

}  // namespace waymark
