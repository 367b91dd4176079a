// Shared by the tables of statements.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan_grammar.h"

namespace waymark::etm4x {

inline constexpr std::size_t kMostItems = 1024;

using PlanLines = std::vector<std::string>;

template <auto kSetting>
std::optional<std::uint32_t> line_of(const Plan& plan) {
  const auto& setting = plan.*kSetting;
  if (!setting) return std::nullopt;
  return setting->line;
}

inline std::string joined_words(std::span<const Choice> choices) {
  std::string text;
  for (const Choice& choice : choices)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", choice.word);
  return text;
}

template <auto kSetting>
Parsed<void> parse_choice(const Statement& row, PlanWords& words, Plan& plan) {
  const std::string_view word = words.take();
  for (const Choice& choice : row.choices) {
    if (choice.word != word) continue;
    using Value = decltype((plan.*kSetting)->value);
    plan.*kSetting = {static_cast<Value>(choice.value), words.line()};
    return {};
  }
  return wrong(fmt::format("'{}' is not accepted here", word),
               fmt::format("Accepted: {}", joined_words(row.choices)));
}

/// Values of registers that a plan cannot express are numbers, which plans do not accept.
template <auto kSetting>
void print_choice(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!(plan.*kSetting)) return;
  const std::uint32_t value = (plan.*kSetting)->value;
  const auto found = std::ranges::find(row.choices, value, &Choice::value);
  lines.push_back(found == row.choices.end() ? fmt::format("{} {}", row.word, value)
                                             : fmt::format("{} {}", row.word, found->word));
}

inline Parsed<void> add_range(PlanWords& words, std::vector<PlanRange>& ranges, bool exclude) {
  WAYMARK_PLAN_TRY(match, words.range());
  if (ranges.size() >= kMostItems) return too_many();
  ranges.push_back({match, exclude, words.line()});
  return {};
}
}  // namespace waymark::etm4x
