#include "waymark/base/number.h"

#include <charconv>
#include <locale>
#include <sstream>
#include <string>
#include <system_error>

namespace waymark {

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

}  // namespace waymark
