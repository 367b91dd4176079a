#include "selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "command.h"
#include "input_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/perf/recording.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostListed = 10;

/// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMostListed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", escaped(words[i]));
  if (words.size() > kMostListed) text += fmt::format(" and {} more", words.size() - kMostListed);
  return text;
}

std::unexpected<Error> refuse(std::string detail) {
  return fail(ErrorCode::kInvalidArgument, std::move(detail));
}

/// The words that the recording has instead.
std::unexpected<Error> unknown(std::string_view option, const std::string& word,
                               std::string_view what, const std::vector<std::string>& known) {
  if (known.empty()) {
    return refuse(
        fmt::format("{} {}: the recording does not name any {}.", option, escaped(word), what));
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto meant = nearest(word, views);
  return refuse(
      fmt::format("{} {}: the recording has no such {}.{} It has {}.", option, escaped(word), what,
                  meant ? fmt::format(" Did you mean {}?", escaped(*meant)) : "", listed(known)));
}

/// Numbers with the names of their tasks, as "100 (sort)".
using Numbered = std::map<std::int32_t, std::string>;

Result<std::vector<std::int32_t>> numbers_of(std::string_view option, std::string_view what,
                                             const std::vector<std::string>& texts,
                                             const Numbered& known) {
  std::vector<std::int32_t> numbers;
  for (const std::string& text : texts) {
    const auto number = parse_number(text);
    if (!number || *number > std::numeric_limits<std::int32_t>::max())
      return refuse(
          fmt::format("{} {}: expected the number of a {}.", option, escaped(text), what));
    const auto value = static_cast<std::int32_t>(*number);
    if (!known.contains(value)) {
      std::vector<std::string> words;
      for (const auto& [id, name] : known)
        words.push_back(name.empty() ? std::to_string(id) : fmt::format("{} ({})", id, name));
      return unknown(option, text, what, words);
    }
    numbers.push_back(value);
  }
  return numbers;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// The kernel's own map has the name of a symbol at its end.
bool is_program(const std::string& path, const std::string& wanted) {
  constexpr std::string_view kKernel = "[kernel.kallsyms]";
  if (path == wanted || (wanted == kKernel && path.starts_with(kKernel))) return true;
  return wanted.find('/') == std::string::npos && file_name(path) == wanted;
}

template <class Value>
bool allows(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

}  // namespace

void add_selection_options(Command& command, SelectionOptions& options) {
  const std::string group(kRecordingGroup);
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* type,
                       const char* help) {
    command.add_option(name, values, help)->type_name(type)->allow_extra_args(false)->group(group);
  };
  add("--pid", options.pids, "PID", "only this process");
  add("--tid", options.tids, "TID", "only this thread");
  add("--comm", options.names, "NAME", "only threads with this name");
  add("--dso", options.programs, "NAME",
      "only instructions of the program or library with this path or file name");
}

bool Selection::decide(const perf::Task& task) const {
  return allows(pids_, task.pid) && allows(tids_, task.tid) && allows(names_, task.name);
}

bool Selection::has_task(TaskId task) {
  if (asked_ == task) return selected_;
  const auto [known, inserted] = known_.try_emplace(task);
  if (inserted) known->second = decide(images_->task(task));
  asked_ = task;
  selected_ = known->second;
  return selected_;
}

bool Selection::has_place(TaskId task, std::uint64_t address) {
  if (programs_.empty()) return true;
  if (task != task_ || address < first_ || address > last_) {
    const perf::ProgramPlace place = images_->place(task, address);
    task_ = task;
    first_ = place.mapping != nullptr ? place.first : address;
    last_ = place.mapping != nullptr ? place.last : address;
    in_program_ = place.mapping != nullptr && allows(programs_, place.mapping->path);
  }
  return in_program_;
}

bool Selection::shows(const Element& element) {
  const ExecutionContext context = execution_context(element);
  const TaskId task = cursor_.id(element.index, element.trace_id, context);
  if (!has_task(task)) return false;
  if (programs_.empty()) return true;
  const bool is_code = element.kind == ElementKind::kInstrRange ||
                       element.kind == ElementKind::kInstrRangeNoPath ||
                       element.kind == ElementKind::kAddrNacc;
  return is_code && has_place(task, element.start);
}

Result<std::optional<Selection>> select_in(const inputs::Capture& capture,
                                           const SelectionOptions& options) {
  if (!options.given()) return std::nullopt;
  if (capture.processes() == nullptr) {
    return refuse(
        fmt::format("{}: --pid, --tid, --comm and --dso select parts of a recording of "
                    "perf or simpleperf, and this is not one.",
                    inputs::trace_name(capture)));
  }
  const perf::ProcessImages& images = *capture.processes();
  Numbered pids;
  Numbered tids;
  std::set<std::string> names;
  for (const perf::Task& task : images.known_tasks()) {
    if (task.tid == task.pid || pids[task.pid].empty()) pids[task.pid] = task.name;
    tids[task.tid] = task.name;
    if (!task.name.empty()) names.insert(task.name);
  }
  Selection selection(images);
  auto wanted_pids = numbers_of("--pid", "process", options.pids, pids);
  if (!wanted_pids) return std::unexpected(wanted_pids.error());
  selection.pids_ = *std::move(wanted_pids);
  auto wanted_tids = numbers_of("--tid", "thread", options.tids, tids);
  if (!wanted_tids) return std::unexpected(wanted_tids.error());
  selection.tids_ = *std::move(wanted_tids);
  for (const std::string& name : options.names) {
    if (!names.contains(name))
      return unknown("--comm", name, "thread", {names.begin(), names.end()});
    selection.names_.push_back(name);
  }
  for (const std::string& wanted : options.programs) {
    const std::vector<std::string> known = images.known_programs();
    bool found = false;
    for (const std::string& path : known) {
      if (!is_program(path, wanted)) continue;
      selection.programs_.push_back(path);
      found = true;
    }
    if (found) continue;
    std::vector<std::string> words;
    words.reserve(known.size());
    for (const std::string& path : known) words.push_back(file_name(path));
    return unknown("--dso", wanted, "program", words);
  }
  return selection;
}

}  // namespace waymark::cli
