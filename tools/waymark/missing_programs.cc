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
#include "waymark/perf/program_files.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostRows = 5;

}  // namespace

std::string MissingPrograms::reason_of(const perf::ProgramFiles& files, std::string path) {
  if (path.empty()) return "The recording maps nothing there.";
  if (path.starts_with("[kernel.kallsyms]") || path.starts_with("[guest.kernel"))
    path = "[kernel.kallsyms]";
  const auto missing = files.missing();
  const auto at = std::ranges::find(missing, path, &perf::MissingFile::path);
  if (path == "[kernel.kallsyms]" && (at == missing.end() || !at->reason.contains("names")))
    return "Name the kernel with --vmlinux FILE, or record with perf record --kcore.";
  if (at == missing.end()) return "The file does not have these bytes.";
  return at->is_file || at->reason != "This is not a file."
             ? at->reason
             : "This memory is not from a file, so that its code is not known.";
}

std::string MissingPrograms::path_at(const perf::ProcessImages& images, std::uint32_t task,
                                     std::uint64_t address) {
  const perf::ProgramPlace place = images.place(task, address);
  return place.mapping == nullptr ? std::string() : place.mapping->path;
}

void MissingPrograms::add(const Times& times) {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, count] : times) times_[path] += count;
}

void MissingPrograms::add(const Element& element) {
  const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
  const std::uint32_t task = images_.task_at(element.index, element.trace_id, context).number;
  add(Times{{path_at(images_, task, element.start), 1}});
}

void MissingPrograms::add(const count::Counts& counts) {
  Times times;
  for (const auto& [place, count] : counts.unread)
    times[path_at(images_, place.first, place.second)] += count;
  add(times);
}

void MissingPrograms::tell() const {
  const std::lock_guard lock(mutex_);
  if (times_.empty()) return;
  std::vector<std::pair<std::string, std::uint64_t>> rows(times_.begin(), times_.end());
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second; });
  note("the trace could not be followed where code is missing:");
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const auto& [path, times] = rows[i];
    text += fmt::format("  {:>10}  {}: {}\n", counted(times, "time"),
                        path.empty() ? "(no program)" : escaped(path),
                        escaped(reason_of(*capture_.programs(), path)));
  }
  if (rows.size() > kMostRows) text += fmt::format("  and {} more\n", rows.size() - kMostRows);
  write_to_standard_error(text);
}

}  // namespace waymark::cli
