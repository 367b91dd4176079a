#include "waymark/base/number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <locale>
#include <span>
#include <sstream>
#include <string>
#include <system_error>

namespace waymark {
namespace {

struct Unit {
  std::string_view name;  ///< In lower case.
  double factor;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A decimal number and one of `units`.
std::optional<double> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  const auto number = parse_decimal(text.substr(0, end));
  if (!number) return std::nullopt;
  std::string unit(trimmed(text.substr(end)));
  std::ranges::transform(unit, unit.begin(), lower);
  const auto found = std::ranges::find(units, std::string_view(unit), &Unit::name);
  if (found == units.end()) return std::nullopt;
  return *number * found->factor;
}

/// The power of 1024 that a unit stands for, as a shift; nothing: it is not a unit.
std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty()) return 0;
  const std::string_view rest = unit.substr(1);
  if (lower(unit.front()) == 'b' && rest.empty()) return 0;
  const std::size_t power = std::string_view("kmgt").find(lower(unit.front()));
  const bool is_written_so =
      rest.empty() || rest == "B" || rest == "b" || rest == "iB" || rest == "ib";
  if (power == std::string_view::npos || !is_written_so) return std::nullopt;
  return static_cast<unsigned>(power + 1) * 10;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Not std::from_chars, which in libc++ only reads whole numbers.
std::optional<double> parse_decimal(std::string_view text) {
  if (text.empty() || text.front() == '+' ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double value = 0;
  if (!(in >> value) || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto is_letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  std::size_t digits = text.size();
  // The B of a hexadecimal number is a digit.
  if (!text.starts_with("0x") && !text.starts_with("0X"))
    while (digits != 0 && is_letter(text[digits - 1])) --digits;
  const auto value = parse_number(text.substr(0, digits));
  const auto shift = shift_of(text.substr(digits));
  if (!value || !shift || *value > std::numeric_limits<std::uint64_t>::max() >> *shift)
    return std::nullopt;
  return *value << *shift;
}

std::optional<double> parse_frequency(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1},    {"hz", 1},    {"k", 1e3}, {"khz", 1e3},
                                    {"m", 1e6}, {"mhz", 1e6}, {"g", 1e9}, {"ghz", 1e9}};
  constexpr double kMost = 1e12;
  const auto value = parse_with_unit(text, kUnits);
  if (!value || !(*value > 0 && *value <= kMost)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_time(std::string_view text) {
  constexpr std::string_view kTime = "t:";
  if (text.starts_with(kTime)) text.remove_prefix(kTime.size());
  return parse_number(text);
}

std::optional<double> parse_duration(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto value = parse_with_unit(text, kUnits);
  if (!value || !(*value >= 0 && *value <= kMostSeconds)) return std::nullopt;
  return value;
}

}  // namespace waymark
