#include "waymark/exports/lcov.h"

#include <algorithm>
#include <string>

#include "waymark/base/escape.h"
#include "waymark/exports/coverage.h"

namespace waymark::exports {
namespace {

/// A comma ends a name, and a line end ends its row.
std::string safe_name(std::string_view name) {
  std::string safe = escaped(name);
  std::ranges::replace(safe, ',', '_');
  return safe;
}

void field(TextBuffer& out, std::string_view key, std::uint64_t value) {
  out.put(key);
  out.dec(value);
  out.put('\n');
}

/// "KEY:NUMBER,NAME".
void named(TextBuffer& out, std::string_view key, std::uint64_t number, const std::string& name) {
  out.put(key);
  out.dec(number);
  out.put(',');
  out.put(safe_name(name));
  out.put('\n');
}

void write_branches(TextBuffer& out, const FileCoverage& file) {
  for (const auto& [number, line] : file.lines) {
    std::size_t block = 0;
    for (const BranchCoverage& branch : line.branches) {
      for (const bool taken : {true, false}) {
        out.put("BRDA:");
        out.dec(number);
        out.put(',');
        out.dec(block);
        out.put(taken ? ",0," : ",1,");
        if (branch.reached) {
          out.dec(taken ? branch.taken : branch.not_taken);
        } else {
          out.put('-');
        }
        out.put('\n');
      }
      ++block;
    }
  }
}

}  // namespace

Result<void> write_lcov(const profile::Profile& profile,
                        std::span<const profile::ProgramProfile* const> programs,
                        const Options& options, TextBuffer& out) {
  const auto coverage = coverage_of(profile, programs, options);
  if (!coverage) return std::unexpected(coverage.error());
  for (const auto& [path, file] : *coverage) {
    out.put("TN:\nSF:");
    out.put(escaped(path));
    out.put('\n');
    for (const auto& [name, function] : file.functions) named(out, "FN:", function.line, name);
    for (const auto& [name, function] : file.functions) named(out, "FNDA:", function.calls, name);
    field(out, "FNF:", file.functions.size());
    field(out, "FNH:", file.functions_executed());
    write_branches(out, file);
    field(out, "BRF:", file.possible_outcomes());
    field(out, "BRH:", file.outcomes());
    for (const auto& [number, line] : file.lines) {
      out.put("DA:");
      out.dec(number);
      out.put(',');
      out.dec(line.times);
      out.put('\n');
    }
    field(out, "LF:", file.lines.size());
    field(out, "LH:", file.lines_executed());
    out.put("end_of_record\n");
  }
  return {};
}

}  // namespace waymark::exports
