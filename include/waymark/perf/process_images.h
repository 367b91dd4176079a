// The memory of each process at each moment of a recording, for decoders.  See perf-cs-etm.md 4.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/image/image_selector.h"
#include "waymark/perf/address_spaces.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"
#include "waymark/perf/time_alignment.h"

namespace waymark::perf {

/// A place of an address: which file shows it.
struct ProgramPlace {
  std::shared_ptr<const Mapping> mapping{};
  std::uint64_t file_offset = 0;
  Bytes bytes{};  ///< From the address on, as they are in memory; they may go beyond `last`.
  const ProgramFile* file = nullptr;  ///< nullptr: it is missing.
  /// nullptr: the file itself has the names; else what has them, and how far above it the code ran.
  const program::Program* names = nullptr;
  std::uint64_t names_at = 0;  ///< The address for `names`.
  // The addresses around it at which the file continues.
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< Inclusive.

  /// The address in the program; no program: it is missing, or not an ELF file, or the address is
  /// in none of its segments.
  [[nodiscard]] program::Place linked() const;
};

/// A thread while it has one name, process and memory.
struct Task {
  std::int32_t tid = -1;   ///< -1: not known.
  std::int32_t pid = -1;   ///< The same.
  std::string name{};      ///< Empty: not known.
  std::size_t memory = 0;  ///< Means nothing outside the ProcessImages that gave it.

  friend bool operator==(const Task&, const Task&) = default;
};

/// Which process ran, and in which memory.  Immutable to its users; any number of threads may ask.
class ProcessImages final : public image::ImageSelector {
 public:
  /// `begins`: the place of each of the pieces in the trace that is decoded, ascending.  Where
  /// `times` says nothing about a piece, what happened up to the time of its AUX record holds for
  /// all of it.  `recording` and `files` must outlive the object.
  ProcessImages(const Recording& recording, const std::vector<std::size_t>& order,
                std::vector<TraceIndex> begins, ProgramFiles& files, const TraceTimes& times = {});
  ~ProcessImages() override;

  [[nodiscard]] const image::Image& image_at(TraceIndex index, TraceId trace_id,
                                             ExecutionContext context) const override;
  [[nodiscard]] ImageSelector::Task task_at(TraceIndex index, TraceId trace_id,
                                            ExecutionContext context) const override;

  /// Whether a source states the thread in the field of the VMID: CONTEXTIDR_EL2, of a kernel that
  /// runs at EL2.  EL1 is then that of guests, whose threads are TaskId::kGuest.
  [[nodiscard]] bool thread_is_vmid(TraceId trace_id) const {
    return trace_id < kTraceIdCount && context_is_vmid_[trace_id];
  }

  /// The thread as it was at the moment.  Valid as long as the object.
  [[nodiscard]] const perf::Task& task(TaskId id) const;
  /// Whether task_at() can give it: another recording, or damage, has other tasks.
  [[nodiscard]] bool has_task(TaskId id) const;
  /// The file that shows an address to a task; `mapping` is nullptr if there is none.
  [[nodiscard]] ProgramPlace place(TaskId task, std::uint64_t address) const;

  /// All tasks that the recording names, whether they were traced or not.
  [[nodiscard]] std::vector<perf::Task> known_tasks() const;
  /// The paths of all programs that the recording names, in order.
  [[nodiscard]] std::vector<std::string> known_programs() const;

  /// Where the piece of trace with this place begins.  Decoders are reset there.
  [[nodiscard]] TraceIndex piece_begin(TraceIndex index) const;

 private:
  struct Memory;
  /// The number of events of the recording that happened before.
  using Moment = std::size_t;
  template <class Value>
  struct Change {
    Moment moment;  ///< From this moment on.
    Value value;
  };
  template <class Value>
  using History = std::vector<Change<Value>>;

  /// Known facts about a place of the trace.
  struct Stretch {
    std::size_t piece = 0;
    Moment moment = 0;
    bool timed = false;  ///< By the timestamps of the trace.
    TraceIndex begin = 0;
    TraceIndex end = kNoIndex;
  };
  /// The state according to the events.
  struct Histories {
    std::unordered_map<std::int32_t, History<std::size_t>> memory{};      ///< By pid; -1: kernel.
    std::unordered_map<std::int32_t, History<std::int32_t>> processes{};  ///< By tid.
    std::unordered_map<std::int32_t, History<std::string>> names{};       ///< By tid.
    std::unordered_map<std::int32_t, History<std::int32_t>> running{};  ///< By CPU; -1: not known.
  };
  /// Made when they are first asked for.
  struct Tasks {
    std::shared_mutex mutex{};
    std::unordered_map<std::int32_t, History<perf::Task>> of{};  ///< By tid; none is empty.
  };
  struct TimedMoment {
    TraceIndex from = 0;
    Moment moment = 0;
  };

  void apply_events();
  void set_moments(const TraceTimes& times);
  [[nodiscard]] Moment moment_of(std::uint64_t time) const;
  [[nodiscard]] std::size_t piece_at(TraceIndex index) const;
  [[nodiscard]] Stretch stretch_at(TraceIndex index, TraceId trace_id) const;
  [[nodiscard]] std::int32_t thread_in(const Stretch& stretch, TraceId trace_id,
                                       ExecutionContext context) const;
  [[nodiscard]] std::int32_t thread_on(std::int32_t cpu, const Stretch& stretch) const;
  [[nodiscard]] perf::Task task_in(Moment moment, std::int32_t tid) const;
  [[nodiscard]] const History<perf::Task>& tasks_of(std::int32_t tid) const;
  [[nodiscard]] const Memory& memory(std::size_t number) const;
  std::size_t memory_of(std::int32_t pid);

  const Recording& recording_;
  ProgramFiles& files_;
  std::vector<std::size_t> order_;
  std::vector<TraceIndex> begins_;
  std::vector<bool> context_is_vmid_;  ///< By trace ID.
  AddressSpaces spaces_;               ///< After all events.
  /// By event: the latest time so far.  simpleperf does not sort events by time.
  std::vector<std::uint64_t> event_times_;
  std::vector<Moment> moments_;         ///< By piece: that of its AUX record.
  std::vector<Moment> moments_before_;  ///< By piece: that of the piece before it of the same CPU.
  std::map<TraceId, std::vector<TimedMoment>> timed_;
  std::map<TraceId, std::int32_t> cpus_;
  std::vector<std::unique_ptr<Memory>> memories_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_versions_;
  Histories histories_;
  mutable Tasks tasks_;
};

/// Remembers the last answers: elements that follow one another are nearly always of one task and
/// of one file.  One owner; not thread safe.
class TaskCursor {
 public:
  /// `images` must outlive it.
  explicit TaskCursor(const ProcessImages& images) : images_(&images) {}

  TaskId id(TraceIndex index, TraceId trace_id, ExecutionContext context) {
    if (trace_id != trace_id_ || context != context_ || index < task_.begin || index >= task_.end) {
      task_ = images_->task_at(index, trace_id, context);
      trace_id_ = trace_id;
      context_ = context;
    }
    return task_.id;
  }
  /// Where the task that id() gave last may end.
  [[nodiscard]] TraceIndex until() const { return task_.end; }
  const Task& task(TraceIndex index, TraceId trace_id, ExecutionContext context) {
    return task(id(index, trace_id, context));
  }
  const Task& task(TaskId id) {
    if (shown_ == nullptr || id != shown_id_) {
      shown_ = &images_->task(id);
      shown_id_ = id;
    }
    return *shown_;
  }

 private:
  const ProcessImages* images_;
  image::ImageSelector::Task task_{.id = {}, .begin = kNoIndex, .end = 0};
  TraceId trace_id_ = 0;
  ExecutionContext context_{};
  const Task* shown_ = nullptr;
  TaskId shown_id_{};
};

}  // namespace waymark::perf
