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

/// A size in bytes: a number, or one with K, M, G or T for powers of 1024, which may be written KB
/// or KiB too, in either case.  Nothing: anything else, or more than 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A frequency in Hz: a decimal number, or one with k, M or G for powers of 1000, which may be
/// written kHz too, in either case: "2.5M", "16 MHz".  Nothing: anything else, 0, or more than 1
/// THz.
std::optional<double> parse_frequency(std::string_view text);

/// A raw time of the trace: a number, which may come after "t:", as in a place of the trace.
std::optional<std::uint64_t> parse_time(std::string_view text);

/// A duration in seconds: a decimal number, or one with ms, s, min or h.  Nothing: anything else, a
/// negative one, or more than kMostSeconds.
std::optional<double> parse_duration(std::string_view text);
inline constexpr double kMostSeconds = 1e9;

/// The value of a hexadecimal digit in either case; -1: it is not a digit.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace waymark
