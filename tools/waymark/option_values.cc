#include "option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>

#include "command.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"

namespace waymark::cli {
namespace {

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// The power of 1024 that a unit stands for, as a shift; nothing: it is not a unit.
std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty()) return 0;
  const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
  const std::string_view rest = unit.substr(1);
  if (upper == 'B' && rest.empty()) return 0;
  const std::size_t power = std::string_view("KMGT").find(upper);
  const bool is_written_so = rest.empty() || rest == "B" || rest == "b" || rest == "iB";
  if (power == std::string_view::npos || !is_written_so) return std::nullopt;
  return static_cast<unsigned>(power + 1) * 10;
}

constexpr std::uint64_t kMost = NumberLimits().most;

/// Whether it is written as a number is, however large that is.
bool is_number(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_hexadecimal ? hex_digit(c) >= 0 : c >= '0' && c <= '9';
  });
}

/// " from 1 to 256"; " of at least 1" if that is all, unless `both`.
std::string described(const NumberLimits& limits, bool both) {
  if (both || limits.most != kMost) return fmt::format(" from {} to {}", limits.least, limits.most);
  return limits.least == 0 ? std::string() : fmt::format(" of at least {}", limits.least);
}

}  // namespace

std::unexpected<Error> wrong(std::string_view option, std::string_view text,
                             std::string_view form) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{} {}: expected {}.", option, text, form));
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

std::string refusal(std::string_view text, const std::vector<std::string>& words) {
  const std::vector<std::string_view> known(words.begin(), words.end());
  if (const auto meant = nearest(text, known)) {
    return fmt::format("'{}' is not {}; did you mean `{}`?", text, alternatives(words), *meant);
  }
  return fmt::format("'{}' is not {}", text, alternatives(words));
}

ValueCheck one_of(std::vector<std::string> words) {
  const auto known = std::make_shared<std::vector<std::string>>(std::move(words));
  return {.examine =
              [known](std::string& text) {
                const bool is_known = std::ranges::find(*known, text) != known->end();
                return is_known ? std::string() : refusal(text, *known);
              },
          .known = {.words = *known, .others_are_refused = true}};
}

ValueCheck such_as(const std::vector<std::string>& words) {
  return {.examine = [](std::string& /*text*/) { return std::string(); }, .known = {words}};
}

ValueCheck some_path() {
  return {.examine = [](std::string& text) {
    return text.empty() ? std::string("'' is not a path") : std::string();
  }};
}

std::string read_number(std::string& text, const NumberLimits& limits) {
  const auto value = parse_number(text);
  if (value && *value >= limits.least && *value <= limits.most) {
    text = fmt::format("{}", *value);
    return {};
  }
  if (is_number(text))
    return fmt::format("'{}' is not a number{}", text, described(limits, !value));
  return fmt::format("'{}' is not a number{}; numbers are decimal, or hexadecimal after 0x", text,
                     described(limits, false));
}

ValueCheck number() {
  return {.examine = [](std::string& text) { return read_number(text, {}); }};
}

ValueCheck size_in_bytes(const NumberLimits& limits) {
  return {.examine = [limits](std::string& text) {
    std::size_t digits = text.size();
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    while (!is_hexadecimal && digits != 0 &&
           std::isalpha(static_cast<unsigned char>(text[digits - 1])) != 0) {
      --digits;
    }
    const std::string_view number = std::string_view(text).substr(0, digits);
    const auto shift = shift_of(std::string_view(text).substr(digits));
    if (!shift || !is_number(number)) {
      return fmt::format("'{}' is not a size in bytes, such as 4096, 0x1000, 64M or 1GiB", text);
    }
    const auto value = parse_number(number);
    if (!value || *value > limits.most >> *shift || *value << *shift < limits.least)
      return fmt::format("'{}' is not a size in bytes{}", text,
                         described(limits, !value || *value > kMost >> *shift));
    text = fmt::format("{}", *value << *shift);
    return std::string();
  }};
}

}  // namespace waymark::cli
