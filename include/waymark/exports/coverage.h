// Which source lines, branches and functions were executed: what all formats for coverage say.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "waymark/exports/table.h"

namespace waymark::exports {

/// A conditional branch of the code that was compiled from a line.
struct BranchCoverage {
  bool reached = false;
  std::uint64_t taken = 0;
  std::uint64_t not_taken = 0;
};

struct LineCoverage {
  /// The count of its most frequent instruction; for several programs, their sum.
  std::uint64_t times = 0;
  std::vector<BranchCoverage> branches{};

  /// How many of the two outcomes of each branch there were.
  [[nodiscard]] std::size_t outcomes() const;
};

struct FunctionCoverage {
  std::uint32_t line = 0;
  /// If it was never called, as a handler is not: how often it began, and at least 1 if any of its
  /// code was executed.
  std::uint64_t calls = 0;
};

struct FileCoverage {
  /// All lines with code, also code that was not executed.
  std::map<std::uint32_t, LineCoverage> lines{};
  std::map<std::string, FunctionCoverage> functions{};  ///< By the linker's names.

  [[nodiscard]] std::size_t lines_executed() const;
  [[nodiscard]] std::size_t functions_executed() const;
  [[nodiscard]] std::size_t outcomes() const;           ///< For all branches.
  [[nodiscard]] std::size_t possible_outcomes() const;  ///< Two for each branch.
};

/// By the path of the file, after Options::source_path.
using Coverage = std::map<std::string, FileCoverage>;

/// Of some programs of a profile.  kUnsupported: no program has line tables.
Result<Coverage> coverage_of(const profile::Profile& profile,
                             std::span<const profile::ProgramProfile* const> programs,
                             const Options& options);

}  // namespace waymark::exports
