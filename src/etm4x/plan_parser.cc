// Parses the description file line by line, by the table of statements.
#include <fmt/format.h>

#include "plan_grammar.h"
#include "plan_words.h"
#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {
namespace {

constexpr std::size_t kMostProblems = 100;

Parsed<void> parse_line(PlanWords words, Plan& plan) {
  const std::string_view word = words.take();
  for (const Statement& statement : plan_statements()) {
    if (statement.word != word) continue;
    if (statement.once) {
      if (auto first = words.once(std::string(word)); !first) return first;
    }
    if (auto done = statement.parse(statement, words, plan); !done) return done;
    if (words.empty()) return {};
    return wrong(fmt::format("'{}' is one argument too many for '{}'", words.peek(), word),
                 fmt::format("The form is: {}", statement.form));
  }
  std::string known;
  for (const Statement& statement : plan_statements()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", statement.word);
  }
  return wrong(fmt::format("'{}' is not a setting", word),
               fmt::format("A line begins with one of: {}", known));
}

}  // namespace

std::string PlanProblem::text() const {
  const std::string place = line == 0 ? "" : fmt::format("line {}: ", line);
  return fmt::format("{}{}. {}.", place, rule, remedy);
}

std::optional<Plan> parse_plan(std::string_view text, const SymbolResolver& symbols,
                               std::vector<PlanProblem>& problems) {
  Plan plan;
  std::uint32_t line = 0;
  bool headed = false;
  PlanWords::Places places;
  const std::size_t before = problems.size();
  while (!text.empty() && problems.size() - before < kMostProblems) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const auto words = words_of(row);
    if (words.empty()) continue;
    if (!headed) {
      if (words.size() != 2 || words[0] != "etm4-plan" || words[1] != "1") {
        problems.push_back(
            {line, "the file is not a plan", fmt::format("The first line is: {}", kPlanHeading)});
        return std::nullopt;
      }
      headed = true;
      continue;
    }
    if (auto done = parse_line(PlanWords(words, line, places, symbols), plan); !done) {
      problems.push_back({line, done.error().rule, done.error().remedy});
    }
  }
  if (!headed && problems.size() == before) {
    problems.push_back(
        {1, "the file is empty", fmt::format("The first line is: {}", kPlanHeading)});
  }
  if (problems.size() != before) return std::nullopt;
  return plan;
}

}  // namespace waymark::etm4x
