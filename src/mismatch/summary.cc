#include "waymark/mismatch/summary.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace waymark::mismatch {
namespace {

auto name_of(const FunctionRow& row) { return std::tie(row.program, row.function); }

/// The names of the suspects besides the function of the row itself.
std::vector<std::string> functions_of(const FunctionRow& row) {
  std::vector<std::string> names;
  for (const SuspectCode& code : row.suspects) {
    const bool known = code.function.empty() || code.function == row.function ||
                       std::ranges::find(names, code.function) != names.end();
    if (!known) names.push_back(code.function);
  }
  return names;
}

}  // namespace

void FunctionRows::add(FunctionRow row) {
  const auto place = std::ranges::lower_bound(rows_, name_of(row), {}, name_of);
  if (place != rows_.end() && name_of(*place) == name_of(row)) {
    ++place->times;
    place->switches |= row.switches;
    place->no_context |= row.no_context;
    if (row.index < place->index) {
      place->index = row.index;
      place->address = row.address;
      place->end = row.end;
      place->suspects = std::move(row.suspects);
    }
    return;
  }
  row.times = 1;
  rows_.insert(place, std::move(row));
}

std::vector<FunctionRow> FunctionRows::take() {
  std::ranges::stable_sort(rows_, std::ranges::greater{}, &FunctionRow::times);
  return std::exchange(rows_, {});
}

std::vector<ProgramSummary> by_program(std::span<const FunctionRow> rows) {
  struct Found {
    ProgramSummary summary;
    bool in_kernel = false;
    bool switches = false;
    bool any = false;
    std::size_t functions = 0;
  };
  std::vector<Found> programs;
  for (const FunctionRow& row : rows) {
    auto at = std::ranges::find(programs, row.program,
                                [](const Found& found) { return found.summary.program; });
    if (at == programs.end()) at = programs.insert(at, {.summary = {.program = row.program}});
    ProgramSummary& summary = at->summary;
    summary.times += row.times;
    summary.no_context |= row.no_context;
    if (!std::exchange(at->any, true) || row.index < summary.index) {
      summary.index = row.index;
      summary.address = row.address;
      summary.function = row.function;
      summary.suspects = functions_of(row);
    }
    if (summary.build_id.empty()) summary.build_id = row.build_id;
    ++at->functions;
    at->in_kernel |= row.in_kernel;
    at->switches |= row.switches;
    if (row.function.empty()) continue;
    if (summary.functions.size() == kMostNamed) {
      ++summary.other_functions;
    } else {
      summary.functions.emplace_back(row.function, row.times);
    }
  }
  std::vector<ProgramSummary> summaries;
  for (Found& found : programs) {
    if (found.in_kernel)
      found.summary.cause = found.switches ? Cause::kChangedCode : Cause::kOtherKernel;
    // Another build differs in more than one place of a program.
    if (!found.in_kernel && found.functions == 1 && !found.summary.functions.empty())
      found.summary.cause = Cause::kPatchedCode;
    summaries.push_back(std::move(found.summary));
  }
  return summaries;
}

}  // namespace waymark::mismatch
