#include "waymark/perf/jitted_code.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "waymark/perf/address_spaces.h"
#include "waymark/perf/perf_map.h"

namespace waymark::perf {
namespace {

/// Whether the recording was made here.
bool on_this_machine(const Origin& origin) {
  utsname here{};
  return !origin.host.empty() && !origin.kernel.empty() && uname(&here) == 0 &&
         origin.host == here.nodename && origin.kernel == here.release;
}

bool is_for_arm(unsigned machine) {
  constexpr unsigned kArm = 40;
  constexpr unsigned kAArch64 = 183;
  return machine == kArm || machine == kAArch64;
}

/// Addresses that something had, without overlaps.
class TakenAddresses {
 public:
  [[nodiscard]] bool any(std::uint64_t first, std::uint64_t last) const {
    const auto after = ranges_.upper_bound(last);
    return after != ranges_.begin() && std::prev(after)->second >= first;
  }
  void add(std::uint64_t first, std::uint64_t last) {
    auto at = ranges_.upper_bound(last);
    while (at != ranges_.begin() && std::prev(at)->second >= first) {
      --at;
      first = std::min(first, at->first);
      last = std::max(last, at->second);
      at = ranges_.erase(at);
    }
    ranges_[first] = last;
  }
  void remove(std::uint64_t first, std::uint64_t last) {
    auto at = ranges_.upper_bound(last);
    while (at != ranges_.begin() && std::prev(at)->second >= first) {
      --at;
      const auto [old_first, old_last] = *at;
      at = ranges_.erase(at);
      if (old_last > last) at = ranges_.insert({last + 1, old_last}).first;
      if (old_first < first) at = ranges_.insert({old_first, first - 1}).first;
    }
  }
  [[nodiscard]] bool all(std::uint64_t first, std::uint64_t last) const {
    const auto after = ranges_.upper_bound(first);
    return after != ranges_.begin() && std::prev(after)->second >= last;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

/// Code that a process gets.
struct Placement {
  std::uint64_t time = 0;
  std::int32_t pid = -1;
  std::uint64_t address = 0;
  std::shared_ptr<const JittedFunction> function{};
  bool is_timed = true;  ///< The time can be compared with those of events.
};

/// Adds code to events; see add_jitted_code().
class EventMerger {
 public:
  explicit EventMerger(std::vector<TaskEvent>& events) : events_(events) {}

  /// Returns the processes in which code without comparable times took the place of other code.
  std::set<std::int32_t> merge(std::vector<Placement> placements) {
    std::ranges::stable_sort(placements, {}, &Placement::time);
    for (const Placement& placement : placements) jitted_.insert(placement.pid);
    auto next = placements.begin();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (; next != placements.end() && next->time < events_[i].time; ++next) place(*next, i);
      pass(events_[i], i);
    }
    for (; next != placements.end(); ++next) place(*next, events_.size());
    write();
    return std::move(unsure_);
  }

 private:
  struct Process {
    TakenAddresses taken{};      ///< By files and by code.
    TakenAddresses anonymous{};  ///< Executable memory without a file.
    std::size_t begin = 0;       ///< The event after which it has its present memory.
  };
  struct Addition {
    std::size_t before = 0;  ///< The event that follows it.
    TaskEvent event{};
  };

  void pass_mapping(std::int32_t pid, Mapping& mapping) {
    if (mapping.size == 0) return;
    Process& process = processes_[pid];
    const std::uint64_t first = mapping.address;
    const std::uint64_t last = first + std::min(mapping.size - 1, ~first);
    if (!is_anonymous(mapping.path)) {
      process.taken.add(first, last);
      process.anonymous.remove(first, last);
    } else if (mapping.executable && process.anonymous.all(first, last) && jitted_.contains(pid)) {
      // A compiler makes its memory executable repeatedly: this is nothing new.
      mapping.size = 0;
    } else if (mapping.executable) {
      process.anonymous.add(first, last);
    } else {
      process.anonymous.remove(first, last);
    }
  }

  void pass(TaskEvent& event, std::size_t number) {
    if (auto* const mapping = std::get_if<Mapping>(&event.what)) {
      pass_mapping(event.pid, *mapping);
    } else if (const auto* named = std::get_if<NewName>(&event.what)) {
      if (named->exec) processes_[event.pid] = {.begin = number + 1};
    } else if (const auto* forked = std::get_if<Forked>(&event.what)) {
      const auto parent = static_cast<std::int32_t>(forked->parent_pid);
      if (parent == event.pid) return;  // A thread.
      // The child does not get what the parent loads later.
      processes_[parent].begin = number + 1;
      const Process copy = processes_[parent];
      processes_[event.pid] = copy;
    }
  }

  void place(const Placement& placement, std::size_t before) {
    Process& process = processes_[placement.pid];
    const std::uint64_t last = placement.address + (placement.function->code().size() - 1);
    TaskEvent event;
    event.time = placement.time;
    event.pid = event.tid = placement.pid;
    if (process.taken.any(placement.address, last)) {
      if (!placement.is_timed) unsure_.insert(placement.pid);
    } else {
      before = process.begin;
      event.time = before == 0 ? 0 : events_[before - 1].time;
    }
    process.taken.add(placement.address, last);
    Mapping mapping;
    mapping.address = placement.address;
    mapping.size = placement.function->code().size();
    mapping.file_offset = placement.function->file_offset();
    mapping.path = placement.function->path();
    mapping.jitted = placement.function;
    event.what = std::move(mapping);
    additions_.push_back({before, std::move(event)});
  }

  void write() {
    std::ranges::stable_sort(additions_, {}, &Addition::before);
    std::vector<TaskEvent> all;
    all.reserve(events_.size() + additions_.size());
    auto next = additions_.begin();
    for (std::size_t i = 0; i <= events_.size(); ++i) {
      for (; next != additions_.end() && next->before == i; ++next)
        all.push_back(std::move(next->event));
      if (i != events_.size()) all.push_back(std::move(events_[i]));
    }
    events_ = std::move(all);
  }

  std::vector<TaskEvent>& events_;
  std::map<std::int32_t, Process> processes_;
  std::vector<Addition> additions_;
  std::set<std::int32_t> unsure_;
  std::set<std::int32_t> jitted_;
};

/// Reads what the processes of a recording wrote down.
class JitReader {
 public:
  JitReader(Recording& recording, ProgramFiles& files) : recording_(recording), files_(files) {}

  JittedCode run() {
    std::map<std::string, std::map<std::int32_t, std::uint64_t>> dumps;  // By path, then by pid.
    for (const TaskEvent& event : recording_.events) {
      const auto* const mapping = std::get_if<Mapping>(&event.what);
      if (mapping != nullptr && event.pid >= 0 && is_jitdump(mapping->path))
        dumps[mapping->path].try_emplace(event.pid, event.time);
    }
    for (const auto& [path, processes] : dumps) read_dump(path, processes);
    if (!placements_.empty()) {
      for (const std::int32_t pid : EventMerger(recording_.events).merge(std::move(placements_))) {
        note(fmt::format(
            "The JIT compiler of process {} reused addresses, and the times of its jitdump file "
            "cannot be compared with those of the recording: the last code at each address "
            "is used. Record with perf record -k mono.",
            pid));
      }
    }
    read_maps();
    std::ranges::stable_sort(result_.processes, {}, &JittedProcess::pid);
    return std::move(result_);
  }

 private:
  void read_dump(const std::string& path, const std::map<std::int32_t, std::uint64_t>& processes) {
    const ProgramFile* const file = files_.find_written(path, true);
    std::string problem;
    std::optional<JitDump> dump;
    if (file == nullptr) {
      const auto missing = files_.missing();
      const auto at = std::ranges::find(missing, path, &MissingFile::path);
      problem = at == missing.end() ? "It was not found." : at->reason;
    } else if (auto read = JitDump::read(file->bytes()); !read) {
      problem = read.error().detail;
    } else if (!is_for_arm(read->machine)) {
      problem =
          fmt::format("Its code is for another architecture (number {} of ELF).", read->machine);
    } else {
      dump = *std::move(read);
      for (const Note& each : dump->notes)
        result_.notes.push_back({each.severity, fmt::format("{}: {}", path, each.text)});
    }
    if (file != nullptr && !problem.empty()) note(fmt::format("{} is not used. {}", path, problem));
    std::vector<std::shared_ptr<const JittedFunction>> functions;
    if (dump) {
      for (JitFunction& function : dump->functions)
        functions.push_back(std::make_shared<JittedFunction>(*file, path, std::move(function)));
    }
    for (const auto& [pid, time] : processes) {
      // A child that inherited the file.
      if (dump && pid != dump->pid && processes.contains(dump->pid)) continue;
      result_.processes.push_back(
          {.pid = pid, .path = path, .problem = problem, .functions = functions.size()});
      if (!dump) continue;
      with_code_.insert(pid);
      for (const JitPlacement& each : dump->placements) {
        const auto converted = time_of(*dump, each.time);
        placements_.push_back({.time = std::max(converted.value_or(0), time),
                               .pid = pid,
                               .address = each.address,
                               .function = functions[each.function],
                               .is_timed = converted.has_value()});
      }
    }
  }

  /// The time as the recording counts it.
  [[nodiscard]] std::optional<std::uint64_t> time_of(const JitDump& dump,
                                                     std::uint64_t time) const {
    if (!dump.counter_times) return recording_.monotonic ? std::optional(time) : std::nullopt;
    return recording_.time ? std::optional(recording_.time->nanoseconds(time)) : std::nullopt;
  }

  void read_maps() {
    if (!files_.has_roots() && !on_this_machine(recording_.origin)) return;
    std::map<std::int32_t, std::shared_ptr<const program::Program>> maps;
    for (TaskEvent& event : recording_.events) {
      auto* const mapping = std::get_if<Mapping>(&event.what);
      if (mapping == nullptr || event.pid < 0 || !mapping->executable || mapping->jitted ||
          !is_anonymous(mapping->path) || with_code_.contains(event.pid))
        continue;
      const auto [known, inserted] = maps.try_emplace(event.pid);
      if (inserted) known->second = read_map(event.pid);
      mapping->names = known->second;
    }
  }

  std::shared_ptr<const program::Program> read_map(std::int32_t pid) {
    const std::string path = fmt::format("/tmp/perf-{}.map", pid);
    const ProgramFile* const file = files_.find_written(path, false);
    if (file == nullptr) return nullptr;
    const Bytes bytes = file->bytes();
    auto functions = read_perf_map({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    JittedProcess process{
        .pid = pid, .path = path, .has_code = false, .functions = functions.size()};
    if (functions.empty()) process.problem = "It names no function.";
    result_.processes.push_back(std::move(process));
    return functions.empty() ? nullptr : program::Program::of(std::move(functions), path);
  }

  void note(std::string text) { result_.notes.push_back({Severity::kWarning, std::move(text)}); }

  Recording& recording_;
  ProgramFiles& files_;
  JittedCode result_;
  std::vector<Placement> placements_;
  std::set<std::int32_t> with_code_;  ///< Processes of which a jitdump file was read.
};

}  // namespace

const program::Program* JittedFunction::program() const {
  std::call_once(once_, [this] {
    program_ = program::Program::of({{address(), address() + (code().size() - 1), function_.name}},
                                    path_, function_.lines);
  });
  return program_.get();
}

JittedCode add_jitted_code(Recording& recording, ProgramFiles& files) {
  return JitReader(recording, files).run();
}

}  // namespace waymark::perf
