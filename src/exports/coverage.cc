#include "waymark/exports/coverage.h"

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
  program.program->each_line([&](const program::CodeLine& row) {
    if (!row.is_statement || row.line == 0 || row.file.empty()) return;
    std::uint64_t& times = all.files[row.file][row.line].times;
    times = std::max(times, code.most(row.address, row.end));
  });
  // Branches belong to lines that begin a statement somewhere, so that these must be known before.
  BranchFinder finder(program);
  std::vector<std::uint64_t> branches;
  program.program->each_line([&](const program::CodeLine& row) {
    if (row.address == row.end) return;
    branches.clear();
    finder.add(row.address, row.end, branches);
    const auto file = all.files.find(row.file);
    if (branches.empty() || file == all.files.end()) return;
    const auto line = file->second.find(row.line);
    if (line == file->second.end()) return;
    for (const std::uint64_t address : branches) {
      const count::InstructionCount count = code.at(address);
      line->second.branches[address] = {count.times != 0, count.taken, count.not_taken};
    }
  });
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

Result<Coverage> coverage_of(const profile::Profile& profile,
                             std::span<const profile::ProgramProfile* const> programs,
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
    const std::map<std::uint64_t, std::uint64_t> calls = profile::calls_of(profile, *program);
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
      const auto called = calls.find(function.start);
      if (called != calls.end()) {
        covered.calls += called->second;
        continue;
      }
      // A function that runs without a call, as a handler does, was not missed.
      const bool is_executed = code.most(function.start, function.last + 1) != 0;
      const std::uint64_t times = code.at(function.start).times;
      const std::uint64_t begun = times - std::min(times, loops_to_start(*program, function));
      covered.calls += std::max<std::uint64_t>(begun, is_executed ? 1 : 0);
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
