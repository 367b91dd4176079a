#include "missing_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "complain.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/base/standard_streams.h"
#include "waymark/perf/address_spaces.h"
#include "waymark/perf/jitted_code.h"
#include "waymark/perf/program_files.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostRows = 5;

/// Why the code in memory without a file is not known.
std::string jit_reason(const perf::JittedCode& jitted, std::int32_t pid) {
  const auto process = std::ranges::find(jitted.processes, pid, &perf::JittedProcess::pid);
  constexpr std::string_view kRemedy =
      "let it write a jitdump file, and record with perf record -k mono.";
  if (process == jitted.processes.end()) {
    return fmt::format(
        "This memory is not from a file, so its code is unknown. If a JIT compiler made it, "
        "{}",
        kRemedy);
  }
  if (!process->has_code) {
    return fmt::format(
        "A JIT compiler made this code, and {} has only the names of its functions: {}",
        process->path, kRemedy);
  }
  if (!process->problem.empty())
    return fmt::format("Its code should be in {}. {}", process->path, process->problem);
  return fmt::format("{} has no code for these addresses.", process->path);
}

}  // namespace

std::string MissingProgram::text() const {
  if (path.empty()) return "(no program)";
  return pid < 0 ? path : fmt::format("{} (process {})", path, pid);
}

std::string MissingPrograms::reason_of(const inputs::Capture& capture,
                                       const MissingProgram& program) {
  if (program.path.empty()) return "The recording has no mapping there.";
  if (program.pid >= 0) return jit_reason(*capture.jitted_code(), program.pid);
  std::string path = program.path;
  if (path.starts_with("[kernel.kallsyms]") || path.starts_with("[guest.kernel"))
    path = "[kernel.kallsyms]";
  const auto missing = capture.programs()->missing();
  const auto at = std::ranges::find(missing, path, &perf::MissingFile::path);
  if (path == "[kernel.kallsyms]" && (at == missing.end() || !at->reason.contains("names")))
    return "Name the kernel with --vmlinux, or record with perf record --kcore.";
  if (at == missing.end()) return "The file does not have these bytes.";
  return at->is_file || at->reason != "This is not a file."
             ? at->reason
             : "This memory is not from a file, so its code is unknown.";
}

MissingProgram MissingPrograms::program_at(const perf::ProcessImages& images, TaskId task,
                                           std::uint64_t address) {
  const perf::ProgramPlace place = images.place(task, address);
  if (place.mapping == nullptr) return {};
  const std::string& path = place.mapping->path;
  return {.path = path.empty() ? "//anon" : path,
          .pid = perf::is_anonymous(path) ? images.task(task).pid : -1};
}

void MissingPrograms::add(const Times& times) {
  const std::lock_guard lock(mutex_);
  for (const auto& [program, count] : times) times_[program] += count;
}

void MissingPrograms::add(const Element& element) {
  const ExecutionContext context = execution_context(element);
  const TaskId task = images_.task_at(element.index, element.trace_id, context).id;
  add(Times{{program_at(images_, task, element.start), 1}});
}

void MissingPrograms::add(const count::Counts& counts) {
  Times times;
  for (const auto& [place, count] : counts.unread)
    times[program_at(images_, place.first, place.second)] += count;
  add(times);
}

bool MissingPrograms::empty() const {
  const std::lock_guard lock(mutex_);
  return times_.empty();
}

MissingCode::MissingCode(const inputs::Capture& capture, const std::optional<Selection>& selection)
    : selection_(selection) {
  if (capture.processes() != nullptr) programs_ = std::make_unique<MissingPrograms>(capture);
}

void MissingCode::observe(std::span<const Element> elements) {
  if (programs_ == nullptr) return;
  for (const Element& element : elements) {
    if (element.kind == ElementKind::kAddrNacc && (!selection_ || selection_->shows(element)))
      programs_->add(element);
  }
}

void MissingCode::report() const {
  if (programs_ != nullptr) programs_->report();
}

void MissingPrograms::report() const {
  const std::lock_guard lock(mutex_);
  if (times_.empty()) return;
  std::vector<std::pair<MissingProgram, std::uint64_t>> rows(times_.begin(), times_.end());
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second; });
  note("the trace could not be followed where code is missing:");
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const auto& [program, times] = rows[i];
    text += fmt::format("  {:>10}  {}: {}\n", counted(times, "time"), escaped(program.text()),
                        escaped(reason_of(capture_, program)));
  }
  if (rows.size() > kMostRows) text += fmt::format("  and {} more\n", rows.size() - kMostRows);
  write_to_standard_error(text);
}

}  // namespace waymark::cli
