#include "option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>

#include "waymark/base/nearest.h"
#include "waymark/base/number.h"

namespace waymark::cli {
namespace {

constexpr std::string_view kOneOf = "one of";
constexpr std::string_view kSuchAs = "such as";

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// The words are kept in the description, one per line.
CLI::Validator with_words(std::string_view name, const std::vector<std::string>& words,
                          std::function<std::string(std::string&)> check) {
  return {std::move(check), fmt::format("{}", fmt::join(words, "\n")), std::string(name)};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The validator with this name, or nullptr.
CLI::Validator* validator(CLI::Option& option, std::string_view name) {
  try {
    return option.get_validator(std::string(name));
  } catch (const CLI::OptionNotFound&) {
    return nullptr;
  }
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

CLI::Validator one_of(std::vector<std::string> words) {
  const auto known = std::make_shared<std::vector<std::string>>(std::move(words));
  return with_words(kOneOf, *known, [known](std::string& text) {
    const bool is_known = std::ranges::find(*known, text) != known->end();
    return is_known ? std::string() : refusal(text, *known);
  });
}

CLI::Validator such_as(const std::vector<std::string>& words) {
  return with_words(kSuchAs, words, [](std::string& /*text*/) { return std::string(); });
}

CLI::Validator number() {
  return {[](std::string& text) {
            const auto value = parse_number(text);
            if (!value) {
              return fmt::format(
                  "'{}' is not a number; numbers are decimal, or hexadecimal after 0x", text);
            }
            text = fmt::format("{}", *value);
            return std::string();
          },
          "", "number"};
}

CLI::Validator size_in_bytes() {
  return {[](std::string& text) {
            std::size_t digits = text.size();
            const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
            while (!is_hexadecimal && digits != 0 &&
                   std::isalpha(static_cast<unsigned char>(text[digits - 1])) != 0) {
              --digits;
            }
            const auto value = parse_number(std::string_view(text).substr(0, digits));
            const auto shift = shift_of(std::string_view(text).substr(digits));
            if (!value || !shift || *value > std::numeric_limits<std::uint64_t>::max() >> *shift) {
              return fmt::format("'{}' is not a size in bytes, such as 4096, 0x1000, 64M or 1GiB",
                                 text);
            }
            text = fmt::format("{}", *value << *shift);
            return std::string();
          },
          "", "size"};
}

KnownWords known_words(CLI::Option& option) {
  for (const std::string_view name : {kOneOf, kSuchAs}) {
    if (const CLI::Validator* found = validator(option, name))
      return {split(found->get_description(), '\n'), name == kOneOf};
  }
  return {};
}

}  // namespace waymark::cli
