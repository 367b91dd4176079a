#include "waymark/exports/branch_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "waymark/base/escape.h"
#include "waymark/profile/traces.h"

namespace waymark::exports {
namespace {

/// The page size of the machines on which llvm-profgen runs.
constexpr std::uint64_t kPage = 4096;

std::unexpected<Error> no_elf_file(const profile::ProgramProfile& program) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: the addresses of a profile are those of an ELF file, and none was "
                          "found for this program; name it with --elf, --symfs or --symbols.",
                          program.path.empty() ? "(unnamed memory)" : escaped(program.path)));
}

/// Branches from the program to itself, whose targets are known.
std::vector<profile::Branch> own_branches(const profile::ProgramProfile& program) {
  std::vector<profile::Branch> own;
  for (const profile::Branch& branch : program.branches) {
    if (branch.to == kNoAddress || branch.to_program != program.number) continue;
    const auto same = [&](const profile::Branch& other) {
      return other.from == branch.from && other.to == branch.to;
    };
    if (!own.empty() && same(own.back())) {
      own.back().times += branch.times;
    } else {
      own.push_back(branch);
    }
  }
  return own;
}

/// The two blocks that AutoFDO's text and the unsymbolized profile of llvm-profgen have in common;
/// AutoFDO has one of addresses between them.
void write_counted(const profile::Profile& profile, const profile::ProgramProfile& program,
                   std::uint64_t base, bool addresses, TextBuffer& out) {
  const auto in_file = [&](const profile::Trace& trace) { return trace.start >= base; };
  std::vector<profile::Trace> traces = profile::traces(profile, program);
  std::erase_if(traces, [&](const profile::Trace& trace) { return !in_file(trace); });
  out.dec(traces.size());
  out.put('\n');
  for (const profile::Trace& trace : traces) {
    out.hex(trace.start - base);
    out.put('-');
    out.hex(trace.last - base);
    out.put(':');
    out.dec(trace.times);
    out.put('\n');
  }
  if (addresses) out.put("0\n");
  std::vector<profile::Branch> branches = own_branches(program);
  std::erase_if(branches, [&](const profile::Branch& branch) {
    return branch.from < base || branch.to < base;
  });
  out.dec(branches.size());
  out.put('\n');
  for (const profile::Branch& branch : branches) {
    out.hex(branch.from - base);
    out.put("->");
    out.hex(branch.to - base);
    out.put(':');
    out.dec(branch.times);
    out.put('\n');
  }
}

}  // namespace

Result<void> write_bolt(const profile::Profile& profile, const profile::ProgramProfile& program,
                        const Options& /*options*/, TextBuffer& out) {
  if (program.program == nullptr) return no_elf_file(program);
  const auto branch = [&out](std::uint64_t from, std::uint64_t to, std::uint64_t times) {
    out.put("B ");
    out.hex(from);
    out.put(' ');
    out.hex(to);
    out.put(' ');
    out.dec(times);
    out.put(" 0\n");  // Trace does not say what was mispredicted.
  };
  // Address 0 stands for everything outside of the program.
  for (const profile::Branch& own : own_branches(program)) branch(own.from, own.to, own.times);
  for (const profile::Branch& leaving : program.branches) {
    if (leaving.to == kNoAddress || leaving.to_program != program.number)
      branch(leaving.from, 0, leaving.times);
  }
  for (const profile::ProgramProfile& other : profile.programs()) {
    if (other.number == program.number) continue;
    for (const profile::Branch& entering : other.branches) {
      if (entering.to != kNoAddress && entering.to_program == program.number)
        branch(0, entering.to, entering.times);
    }
  }
  for (const profile::Trace& trace : profile::traces(profile, program)) {
    out.put("F ");
    out.hex(trace.start);
    out.put(' ');
    out.hex(trace.last);
    out.put(' ');
    out.dec(trace.times);
    out.put('\n');
  }
  return {};
}

Result<void> write_llvm_unsymbolized(const profile::Profile& profile,
                                     const profile::ProgramProfile& program,
                                     const Options& /*options*/, TextBuffer& out) {
  if (program.program == nullptr) return no_elf_file(program);
  const std::vector<program::Segment> segments = program.program->segments();
  const auto code = std::ranges::find_if(segments, &program::Segment::executable);
  const std::uint64_t base = code == segments.end() ? 0 : code->address & ~(kPage - 1);
  write_counted(profile, program, base, false, out);
  return {};
}

Result<void> write_autofdo(const profile::Profile& profile, const profile::ProgramProfile& program,
                           const Options& options, TextBuffer& out) {
  if (program.program == nullptr) return no_elf_file(program);
  const std::vector<program::Segment> segments = program.program->segments();
  std::uint64_t base = segments.empty() ? 0 : segments.front().address;
  if (options.file_offsets) {
    const auto code = std::ranges::find_if(segments, &program::Segment::executable);
    base = code == segments.end() ? 0 : code->address - code->file_offset;
  }
  write_counted(profile, program, base, true, out);
  return {};
}

}  // namespace waymark::exports
