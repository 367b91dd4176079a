#include "option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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

constexpr std::uint64_t kMost = NumberLimits().most;

/// Whether it is written as a number is, however large that is.
bool is_number(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_hexadecimal ? hex_digit(c) >= 0 : c >= '0' && c <= '9';
  });
}

/// Whether it is written as a size is, however large that is.
bool is_size(std::string_view text) {
  if (is_number(text)) return true;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits != 0 && parse_size("1" + std::string(text.substr(digits))).has_value();
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

ValueCheck one_of_any_case(std::vector<std::string> words) {
  const auto known = std::make_shared<std::vector<std::string>>(std::move(words));
  return {.examine =
              [known](std::string& text) {
                const auto found = std::ranges::find(*known, upper(text), upper);
                if (found == known->end()) return refusal(text, *known);
                text = *found;
                return std::string();
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
    if (!is_size(text))
      return fmt::format("'{}' is not a size in bytes, such as 4096, 0x1000, 64M or 1GiB", text);
    const auto value = parse_size(text);
    if (!value || *value > limits.most || *value < limits.least)
      return fmt::format("'{}' is not a size in bytes{}", text, described(limits, !value));
    text = fmt::format("{}", *value);
    return std::string();
  }};
}

ValueCheck frequency() {
  return {.examine = [](std::string& text) {
    const auto value = parse_frequency(text);
    if (!value || *value < 1)
      return fmt::format("'{}' is not a frequency, such as 2000000, 2M or 24MHz", text);
    text = fmt::format("{}", static_cast<std::uint64_t>(std::llround(*value)));
    return std::string();
  }};
}

ValueCheck duration(double seconds, std::uint64_t least) {
  return {.examine = [seconds, least](std::string& text) {
    const auto value = parse_duration(text);
    if (!value) return fmt::format("'{}' is not a duration, such as 2, 500ms or 1min", text);
    const auto units = static_cast<std::uint64_t>(std::llround(*value / seconds));
    if (units < least) return fmt::format("'{}' is too short", text);
    text = fmt::format("{}", units);
    return std::string();
  }};
}

}  // namespace waymark::cli
