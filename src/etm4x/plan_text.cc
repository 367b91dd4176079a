// A plan as text, in its canonical spelling.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan_grammar.h"
#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {
namespace {

std::string context_text(const ContextMatch& match) {
  return match.ignored == 0 ? fmt::format("0x{:x}", match.value)
                            : fmt::format("0x{:x}/0x{:x}", match.value, match.ignored);
}

std::string term_text(const Term& term) {
  // The order has no meaning, so this is the canonical one.
  std::vector<std::string> resources;
  resources.reserve(term.any.size());
  for (const Resource& resource : term.any) resources.push_back(resource_text(resource));
  std::ranges::sort(resources);
  return fmt::format("{}{}", term.inverted ? "not " : "", fmt::join(resources, ", "));
}

}  // namespace

std::string resource_text(const Resource& resource) {
  const ResourceRow& row = resource_row(resource.kind);
  const auto argument = [&]() -> std::string {
    switch (row.argument) {
      case ResourceArgument::kNumber:
        return fmt::format("{}", resource.number);
      case ResourceArgument::kAddress:
        return match_text(resource.match, false);
      case ResourceArgument::kRange:
        return match_text(resource.match, true);
      case ResourceArgument::kContextId:
        return context_text(resource.match.context_id.value_or(ContextMatch{}));
      case ResourceArgument::kVmid:
        return context_text(resource.match.vmid.value_or(ContextMatch{}));
    }
    return "";
  };
  return fmt::format("{} {}", row.word, argument());
}

std::string levels_text(std::uint32_t levels, std::string_view separator) {
  if (levels == 0) return "none";
  std::string text;
  // The usual ones first.
  for (const unsigned level : {4U, 5U, 6U, 0U, 1U, 2U, 3U}) {
    if ((levels >> level & 1) == 0) continue;
    if (!text.empty()) text += separator;
    text += kLevelNames[level];
  }
  return text;
}

namespace {

// As parse_plan() reads it.
std::string range_text(const Match& match) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  if (match.last != kTop) return fmt::format("0x{:x}..0x{:x}", match.first, match.last + 1);
  if (match.first == 0) return "all";
  return fmt::format("0x{:x}+0x{:x}", match.first, kTop - match.first + 1);
}

}  // namespace

std::string match_text(const Match& match, bool range) {
  std::string text = range ? range_text(match) : fmt::format("0x{:x}", match.first);
  if (match.context_id) text += " context-id " + context_text(*match.context_id);
  if (match.vmid) text += " vmid " + context_text(*match.vmid);
  if (match.no_levels != 0) text += " at " + levels_text(~match.no_levels & 0x7FU, "+");
  return text;
}

std::string event_text(const Event& event) {
  switch (event.kind) {
    case EventKind::kNever:
      return "never";
    case EventKind::kAlways:
      return "always";
    case EventKind::kTerm:
      return term_text(event.a);
    case EventKind::kAnd:
      return term_text(event.a) + " and " + term_text(event.b);
    case EventKind::kOr:
      return term_text(event.a) + " or " + term_text(event.b);
  }
  return "";
}

std::vector<std::string> plan_lines(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Statement& statement : plan_statements()) {
    if (statement.print != nullptr) statement.print(statement, plan, lines);
  }
  return lines;
}

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format("{}\n", kPlanHeading);
  for (const std::string& line : plan_lines(plan)) text += line + "\n";
  return text;
}

}  // namespace waymark::etm4x
