// Tables of header bytes as patterns of bits, made into tables by byte at compile time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace waymark::protocol {

/// "0000 1xxx": the headers whose bits are these, most significant first; x is any bit, and blanks
/// are ignored.
class HeaderPattern {
 public:
  consteval HeaderPattern(const char* text) {  // NOLINT(google-explicit-constructor)
    unsigned digits = 0;
    for (const char c : std::string_view(text)) {
      if (c == ' ') continue;
      if (c != '0' && c != '1' && c != 'x') throw "a pattern consists of 0, 1 and x";
      fixed_ = static_cast<std::uint8_t>(fixed_ << 1 | (c == 'x' ? 0 : 1));
      value_ = static_cast<std::uint8_t>(value_ << 1 | (c == '1' ? 1 : 0));
      ++digits;
    }
    if (digits != 8) throw "a pattern has eight digits";
  }

  [[nodiscard]] constexpr bool matches(unsigned header) const {
    return (header & fixed_) == value_;
  }
  /// How many bits it states.
  [[nodiscard]] constexpr int weight() const { return std::popcount(fixed_); }

 private:
  std::uint8_t fixed_ = 0;
  std::uint8_t value_ = 0;
};

using HeaderIndex = std::array<std::uint8_t, 256>;
inline constexpr std::uint8_t kNoRow = 0xFF;  ///< The header is reserved.

/// The row of each header.  `Row` has a HeaderPattern `pattern`.  A header with two rows belongs to
/// the one with fewer x.  `reserved` are exactly the headers without a row, so that no row can be
/// forgotten.
template <class Row, std::size_t kCount>
consteval HeaderIndex index_headers(const Row (&rows)[kCount],
                                    std::span<const HeaderPattern> reserved) {
  static_assert(kCount < kNoRow);
  HeaderIndex index{};
  for (unsigned header = 0; header < index.size(); ++header) {
    index[header] = kNoRow;
    int best = -1;
    bool tie = false;
    for (std::size_t row = 0; row < kCount; ++row) {
      const HeaderPattern& pattern = rows[row].pattern;
      if (!pattern.matches(header) || pattern.weight() < best) continue;
      tie = pattern.weight() == best;
      best = pattern.weight();
      index[header] = static_cast<std::uint8_t>(row);
    }
    if (tie) throw "two rows of equal weight claim one header";
    unsigned claims = 0;
    for (const HeaderPattern& pattern : reserved) claims += pattern.matches(header) ? 1 : 0;
    if (claims > 1) throw "a header is reserved twice";
    if (index[header] == kNoRow && claims == 0) throw "a header has no row and is not reserved";
    if (index[header] != kNoRow && claims != 0) throw "a header has a row and is reserved";
  }
  return index;
}

/// A part of the row of each header; `none` for reserved ones.
template <class Value, class Row, std::size_t kCount, class Part>
consteval std::array<Value, 256> map_headers(const Row (&rows)[kCount],
                                             std::span<const HeaderPattern> reserved,
                                             const Value& none, Part part) {
  const HeaderIndex index = index_headers(rows, reserved);
  std::array<Value, 256> values{};
  for (unsigned header = 0; header < index.size(); ++header)
    values[header] = index[header] == kNoRow ? none : std::invoke(part, rows[index[header]]);
  return values;
}

}  // namespace waymark::protocol
