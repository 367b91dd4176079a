#include "waymark/base/text_buffer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace waymark {
namespace {

constexpr auto make_pairs(std::string_view digits, unsigned radix) {
  std::array<char, 512> pairs{};
  for (unsigned i = 0; i < radix * radix; ++i) {
    pairs[i * 2] = digits[i / radix];
    pairs[i * 2 + 1] = digits[i % radix];
  }
  return pairs;
}

constexpr auto kDecimalPairs = make_pairs("0123456789", 10);
constexpr auto kLowerPairs = make_pairs("0123456789abcdef", 16);
constexpr auto kUpperPairs = make_pairs("0123456789ABCDEF", 16);

unsigned hex_length(std::uint64_t value, unsigned digits) {
  const auto significant = (static_cast<unsigned>(std::bit_width(value)) + 3) / 4;
  return std::max({significant, digits, 1U});
}

unsigned dec_length(std::uint64_t value) {
  unsigned length = 1;
  for (; value >= 10000; value /= 10000) length += 4;
  if (value >= 1000) return length + 3;
  if (value >= 100) return length + 2;
  return length + (value >= 10 ? 1 : 0);
}

char* hex_with(char* at, std::uint64_t value, unsigned digits, const std::array<char, 512>& pairs) {
  const unsigned length = hex_length(value, digits);
  char* end = at + length;
  char* p = end;
  while (p - at >= 2) {
    p -= 2;
    std::memcpy(p, &pairs[static_cast<std::size_t>(value & 0xFF) * 2], 2);
    value >>= 8;
  }
  if (p != at) *--p = pairs[static_cast<std::size_t>(value & 0xF) * 2 + 1];
  return end;
}

}  // namespace

char* write_dec(char* at, std::uint64_t value) {
  char* end = at + dec_length(value);
  char* p = end;
  while (value >= 100) {
    p -= 2;
    std::memcpy(p, &kDecimalPairs[static_cast<std::size_t>(value % 100) * 2], 2);
    value /= 100;
  }
  if (value >= 10) {
    std::memcpy(p - 2, &kDecimalPairs[static_cast<std::size_t>(value) * 2], 2);
  } else {
    *--p = static_cast<char>('0' + value);
  }
  return end;
}

char* write_hex(char* at, std::uint64_t value, unsigned digits) {
  return hex_with(at, value, digits, kLowerPairs);
}

void TextBuffer::dec(std::uint64_t value) {
  char* at = grow(20);
  size_ += static_cast<std::size_t>(write_dec(at, value) - at);
}

void TextBuffer::hex(std::uint64_t value, unsigned digits) {
  char* at = grow(16);
  size_ += static_cast<std::size_t>(hex_with(at, value, digits, kLowerPairs) - at);
}

void TextBuffer::hex_upper(std::uint64_t value, unsigned digits) {
  char* at = grow(16);
  size_ += static_cast<std::size_t>(hex_with(at, value, digits, kUpperPairs) - at);
}

void TextBuffer::right(std::string_view text, std::size_t width) {
  for (std::size_t i = text.size(); i < width; ++i) put(' ');
  put(text);
}

void TextBuffer::reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  const std::size_t wanted = std::max({capacity, capacity_ * 2, std::size_t{256}});
  auto data = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = wanted;
}

}  // namespace waymark
