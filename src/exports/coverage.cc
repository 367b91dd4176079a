#include "coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "executed_code.h"
#include "waymark/base/escape.h"
#include "waymark/program/code_line.h"

namespace waymark::exports {
namespace {

/// A path without "." and "..", so that each file has one.
std::string normal(std::string path) {
  const bool has_dots = path.find("/.") != std::string::npos || path.starts_with("./");
  if (!has_dots && path.find("//") == std::string::npos) return path;
  return std::filesystem::path(path).lexically_normal().string();
}

/// The lines of one program, by the paths of its debug information.
struct ProgramLines {
  struct Line {
    std::uint64_t times = 0;
    std::map<std::uint64_t, BranchCoverage> branches{};  ///< By address.
  };
  std::map<std::string_view, std::map<std::uint32_t, Line>> files{};
};

ProgramLines lines_of(const profile::ProgramProfile& program, const ExecutedCode& code) {
  ProgramLines all;
  // Branches belong to lines that begin a statement somewhere.
  struct Stretch {
    std::string_view file;
    std::uint32_t line;
    std::uint64_t start, end;
  };
  std::vector<Stretch> stretches;
  program.program->each_line([&](const program::CodeLine& row) {
    if (row.line == 0 || row.file.empty()) {
      // It keeps the stretches together.
      stretches.push_back({{}, 0, row.address, row.end});
      return;
    }
    if (row.is_statement) {
      std::uint64_t& times = all.files[row.file][row.line].times;
      times = std::max(times, code.most(row.address, row.end));
    }
    if (row.address < row.end) stretches.push_back({row.file, row.line, row.address, row.end});
  });
  // Code whose bytes are not known, such as that of a JIT, has branches where they were executed.
  std::vector<std::uint64_t> executed;
  for (const count::Row& row : program.counts.rows)
    if (row.range.is_branch() && row.range.conditional)
      executed.push_back(row.range.last_address());
  std::ranges::sort(executed);
  BranchFinder finder(program);
  std::vector<std::uint64_t> branches;
  for (const Stretch& stretch : stretches) {
    branches.clear();
    finder.add(stretch.start, stretch.end, branches);
    branches.insert(branches.end(), std::ranges::lower_bound(executed, stretch.start),
                    std::ranges::lower_bound(executed, stretch.end));
    const auto file = all.files.find(stretch.file);
    if (branches.empty() || file == all.files.end()) continue;
    const auto line = file->second.find(stretch.line);
    if (line == file->second.end()) continue;
    for (const std::uint64_t address : branches) {
      const count::InstructionCount count = code.at(address);
      line->second.branches[address] = {count.times != 0, count.taken, count.not_taken};
    }
  }
  return all;
}

bool is_part(std::string_view name) {
  return name.find(".cold") != std::string_view::npos || name.ends_with("@plt");
}

}  // namespace

std::size_t LineCoverage::outcomes() const {
  return std::accumulate(branches.begin(), branches.end(), std::size_t{0},
                         [](std::size_t sum, const BranchCoverage& branch) {
                           return sum + (branch.taken != 0 ? 1 : 0) +
                                  (branch.not_taken != 0 ? 1 : 0);
                         });
}

std::size_t FileCoverage::lines_executed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [](const auto& line) { return line.second.times != 0; }));
}

std::size_t FileCoverage::functions_executed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(functions, [](const auto& it) { return it.second.calls != 0; }));
}

std::size_t FileCoverage::outcomes() const {
  std::size_t sum = 0;
  for (const auto& [number, line] : lines) sum += line.outcomes();
  return sum;
}

std::size_t FileCoverage::possible_outcomes() const {
  std::size_t sum = 0;
  for (const auto& [number, line] : lines) sum += 2 * line.branches.size();
  return sum;
}

Result<Coverage> coverage_of(std::span<const profile::ProgramProfile* const> programs,
                             const Options& options) {
  Coverage coverage;
  const auto file_at = [&](std::string_view path) -> FileCoverage& {
    std::string name = normal(std::string(path));
    if (options.source_path) name = normal(options.source_path(name));
    return coverage[name];
  };
  for (const profile::ProgramProfile* const program : programs) {
    if (program->program == nullptr) continue;
    const ExecutedCode code(*program);
    const ProgramLines lines = lines_of(*program, code);
    for (const auto& [path, rows] : lines.files) {
      if (rows.empty()) continue;
      FileCoverage& file = file_at(path);
      for (const auto& [number, row] : rows) {
        LineCoverage& line = file.lines[number];
        line.times += row.times;
        for (const auto& [address, branch] : row.branches) line.branches.push_back(branch);
      }
    }
    std::vector<program::Frame> frames;
    for (const program::Function& function : program->program->functions()) {
      if (is_part(function.name)) continue;
      program->program->frames(function.start, frames);
      if (frames.empty() || !lines.files.contains(frames.back().file)) continue;
      const program::Frame& frame = frames.back();
      const std::uint32_t line = frame.declared != 0 ? frame.declared : frame.line;
      if (line == 0) continue;
      FunctionCoverage& covered = file_at(frame.file).functions[function.name];
      covered.line = covered.line == 0 ? line : std::min(covered.line, line);
      const std::uint64_t entered = code.at(function.start).times;
      covered.calls += entered - std::min(entered, loops_to_start(*program, function));
    }
  }
  if (!coverage.empty()) return coverage;
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: coverage needs source lines, and no program that was executed has "
                          "debug information; compile it with -g, or put its debug file below "
                          "--symfs.",
                          programs.empty() ? "(nothing)" : escaped(programs.front()->path)));
}

}  // namespace waymark::exports
