// Programs that only one of two compared runs has: --elf-a, --symbols-b and the like.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "waymark/diff/step.h"

namespace waymark::cli {

class Command;

/// Those of one run, as arguments: FILE or FILE@ADDRESS.
struct RunPrograms {
  std::vector<std::string> programs{};  ///< --elf-a.
  std::vector<std::string> symbols{};   ///< --symbols-a.
};
using RunsPrograms = std::array<RunPrograms, diff::kSides>;

/// Adds the four options.
void add_run_programs(Command& command, RunsPrograms& runs);

/// Whether any of the options is given.
bool any_given(const RunsPrograms& runs);

/// What is for both runs, then what is for one of them.
std::vector<std::string> joined(std::vector<std::string> both, const std::vector<std::string>& own);

}  // namespace waymark::cli
