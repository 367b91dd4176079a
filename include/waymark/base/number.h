// Numbers as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waymark {

/// The whole of `text` as a number in `base`, or in hexadecimal after 0x.  Nothing: no digits,
/// other characters, a sign, or more than 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

/// The whole of `text` as a decimal number, which may have a sign, a fraction after a point and an
/// exponent, whatever the locale is.  Nothing: other characters, a plus before it, or too large.
std::optional<double> parse_decimal(std::string_view text);

/// The value of a hexadecimal digit in either case; -1: it is not a digit.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace waymark
