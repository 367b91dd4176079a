#include "waymark/inputs/ini.h"

#include <algorithm>
#include <limits>

namespace waymark::inputs {
namespace {

struct Number {
  std::uint64_t value = 0;
  std::size_t used = 0;  ///< Characters; 0 if there is no digit.
};

constexpr unsigned kNoDigit = 99;

constexpr unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return kNoDigit;
}

// The rules of C's strtoull with base 0, written out so that neither the locale nor newer C
// libraries (which accept 0b) change them.
Number parse_number(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && std::string_view(" \t\n\v\f\r").contains(text[at])) ++at;
  bool negative = false;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative = text[at++] == '-';

  unsigned base = 10;
  if (at < text.size() && text[at] == '0') {
    const bool hex = at + 2 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X') &&
                     digit_of(text[at + 2]) < 16;
    base = hex ? 16 : 8;
    if (hex) at += 2;
  }
  const std::size_t first_digit = at;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  bool too_large = false;
  for (; at < text.size(); ++at) {
    const unsigned digit = digit_of(text[at]);
    if (digit >= base) break;
    if (value > (kMax - digit) / base) too_large = true;
    value = value * base + digit;
  }
  if (at == first_digit) return {};
  if (too_large) return {kMax, at};
  return {negative ? 0 - value : value, at};
}

}  // namespace

bool IniLine::header_hides_entry() const {
  return kind == IniLineKind::kSection && text.find('=') < text.find('[');
}

std::optional<IniLine> IniReader::next() {
  while (!rest_.empty()) {
    const std::size_t newline = rest_.find('\n');
    std::string_view text = rest_.substr(0, newline);
    rest_ = newline == std::string_view::npos ? std::string_view{} : rest_.substr(newline + 1);
    if (number_ != std::numeric_limits<std::uint32_t>::max()) ++number_;

    text = text.substr(0, text.find_first_of("\r;#"));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;

    IniLine line{.number = number_, .text = text};
    const std::size_t open = text.find('[');
    const std::size_t close = open == std::string_view::npos ? open : text.find(']', open + 1);
    const std::size_t equals = text.find('=');
    if (close != std::string_view::npos) {
      line.kind = IniLineKind::kSection;
      line.key = ini_trim(text.substr(open + 1, close - open - 1));
    } else if (equals != std::string_view::npos) {
      line.kind = IniLineKind::kEntry;
      line.key = ini_trim(text.substr(0, equals));
      line.value = ini_trim(text.substr(equals + 1));
    }
    return line;
  }
  return std::nullopt;
}

std::string_view ini_trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view ini_unquote(std::string_view text) {
  const std::size_t first = text.find_first_not_of("\"'");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of("\"'") - first + 1);
}

std::optional<std::uint64_t> ini_number(std::string_view text) {
  if (text.empty()) return 0;
  const Number number = parse_number(text);
  if (number.used != text.size()) return std::nullopt;
  return number.value;
}

std::uint64_t ini_number_prefix(std::string_view text) { return parse_number(text).value; }

}  // namespace waymark::inputs
