#include "waymark/inputs/problem.h"

#include <fmt/core.h>

#include <utility>

namespace waymark::inputs {

std::string ini_place(const std::string& file, std::uint32_t line) {
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

std::string Problem::text() const {
  return file.empty() ? sentence : fmt::format("{}: {}", ini_place(file, line), sentence);
}

void add_problem(std::vector<Problem>& problems, Problem problem) {
  if (problems.size() >= kMaxProblems) return;
  if (problems.size() == kMaxProblems - 1) {
    problem = {.kind = ProblemKind::kMoreProblems,
               .severity = Severity::kInfo,
               .sentence = "There are too many problems to list; repair these first."};
  }
  problems.push_back(std::move(problem));
}

}  // namespace waymark::inputs
