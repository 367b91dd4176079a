// The statements of a plan that say what is traced.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan_settings.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

template <bool kExclude>
Parsed<void> parse_range(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  return add_range(words, plan.ranges, kExclude);
}
/// The lines of `include` and `exclude`: their order has a meaning for people.
void print_ranges(const Statement& /*row*/, const Plan& plan, PlanLines& lines) {
  for (const PlanRange& range : plan.ranges) {
    lines.push_back(
        fmt::format("{} {}", range.exclude ? "exclude" : "include", match_text(range.match, true)));
  }
}

template <bool kStop>
Parsed<void> parse_point(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(match, words.address());
  if (plan.points.size() >= kMostItems) return too_many();
  plan.points.push_back({match, kStop, words.line()});
  return {};
}
/// The lines of `start` and `stop`.
void print_points(const Statement& /*row*/, const Plan& plan, PlanLines& lines) {
  for (const PlanPoint& point : plan.points) {
    lines.push_back(
        fmt::format("{} {}", point.stop ? "stop" : "start", match_text(point.match, false)));
  }
}

template <auto kSetting>
Parsed<void> parse_input(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  Setting<std::uint32_t>& inputs = plan.*kSetting;
  WAYMARK_PLAN_TRY(input, words.number("PE comparator input", 0, 7));
  inputs = {(inputs ? inputs->value : 0) | 1U << input, words.line()};
  return {};
}
/// The lines of `start-input` and `stop-input`.
void print_inputs(const Statement& /*row*/, const Plan& plan, PlanLines& lines) {
  for (unsigned i = 0; i < 8; ++i) {
    if (plan.start_inputs && (plan.start_inputs->value >> i & 1) != 0)
      lines.push_back(fmt::format("start-input {}", i));
    if (plan.stop_inputs && (plan.stop_inputs->value >> i & 1) != 0)
      lines.push_back(fmt::format("stop-input {}", i));
  }
}

Parsed<void> parse_levels(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  std::uint8_t all = 0;
  do {
    WAYMARK_PLAN_TRY(one, PlanWords::level_set(words.take(), '+'));
    all = static_cast<std::uint8_t>(all | one);
  } while (!words.empty());
  plan.levels = {all, words.line()};
  return {};
}
void print_levels(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (plan.levels) lines.push_back(fmt::format("{} {}", row.word, levels_text(plan.levels->value)));
}

Parsed<void> parse_when(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(found, words.plan_event());
  plan.when = std::move(found);
  return {};
}
void print_when(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (plan.when) lines.push_back(fmt::format("{} {}", row.word, event_text(plan.when->event)));
}

constexpr std::array kBegin = {Choice{"started", 1}, Choice{"stopped", 0}};

constexpr std::array kFilterStatements = {
    Statement{.word = "include",
              .form = "include RANGE [QUALIFIERS]",
              .parse = parse_range<false>,
              .print = print_ranges},
    Statement{.word = "exclude", .form = "exclude RANGE [QUALIFIERS]", .parse = parse_range<true>},
    Statement{.word = "start",
              .form = "start ADDRESS [QUALIFIERS]",
              .parse = parse_point<false>,
              .print = print_points},
    Statement{.word = "stop", .form = "stop ADDRESS [QUALIFIERS]", .parse = parse_point<true>},
    Statement{.word = "start-input",
              .form = "start-input N",
              .parse = parse_input<&Plan::start_inputs>,
              .print = print_inputs},
    Statement{
        .word = "stop-input", .form = "stop-input N", .parse = parse_input<&Plan::stop_inputs>},
    Statement{.word = "begin",
              .form = "begin started|stopped",
              .once = true,
              .parse = parse_choice<&Plan::begin_started>,
              .print = print_choice<&Plan::begin_started>,
              .choices = kBegin},
    Statement{.word = "levels",
              .form = "levels LEVEL...",
              .once = true,
              .parse = parse_levels,
              .print = print_levels},
    Statement{.word = "when",
              .form = "when EVENT",
              .once = true,
              .parse = parse_when,
              .print = print_when},
};

}  // namespace

std::span<const Statement> filter_statements() { return kFilterStatements; }

}  // namespace waymark::etm4x
