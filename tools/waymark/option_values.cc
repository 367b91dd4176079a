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

ValueCheck number() {
  return {.examine = [](std::string& text) {
    const auto value = parse_number(text);
    if (!value) {
      return fmt::format("'{}' is not a number; numbers are decimal, or hexadecimal after 0x",
                         text);
    }
    text = fmt::format("{}", *value);
    return std::string();
  }};
}

ValueCheck in_range(std::uint64_t least, std::uint64_t most) {
  return {.examine = [least, most](std::string& text) {
    const auto value = parse_number(text);
    if (value && *value >= least && *value <= most) return std::string();
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  }};
}

ValueCheck positive_number() {
  return {.examine = [](std::string& text) {
    const auto value = parse_number(text);
    if (value && *value != 0) return std::string();
    return fmt::format("'{}' is not a number of at least 1", text);
  }};
}

ValueCheck size_in_bytes() {
  return {.examine = [](std::string& text) {
    const auto value = parse_size(text);
    if (!value)
      return fmt::format("'{}' is not a size in bytes, such as 4096, 0x1000, 64M or 1GiB", text);
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
