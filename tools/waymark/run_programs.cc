#include "run_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "input_options.h"

namespace waymark::cli {

void add_run_programs(Command& command, RunsPrograms& runs) {
  for (diff::Side side = 0; side < diff::kSides; ++side) {
    const char name = side == 0 ? 'a' : 'b';
    const std::string_view place = side == 0 ? "first" : "second";
    command
        .add_option(fmt::format("--elf-{}", name), runs[side].programs,
                    fmt::format("Like --elf, for the {} INPUT only", place))
        ->type_name("FILE[@ADDRESS]")
        ->allow_extra_args(false)
        ->group(kInputGroup);
    command
        .add_option(fmt::format("--symbols-{}", name), runs[side].symbols,
                    fmt::format("Like --symbols, for the {} INPUT only", place))
        ->type_name("FILE[@ADDRESS]")
        ->allow_extra_args(false);
  }
}

bool any_given(const RunsPrograms& runs) {
  return std::ranges::any_of(
      runs, [](const RunPrograms& run) { return !run.programs.empty() || !run.symbols.empty(); });
}

std::vector<std::string> joined(std::vector<std::string> both,
                                const std::vector<std::string>& own) {
  both.insert(both.end(), own.begin(), own.end());
  return both;
}

}  // namespace waymark::cli
