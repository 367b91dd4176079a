#include "waymark/base/number.h"

#include <charconv>
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

}  // namespace waymark
