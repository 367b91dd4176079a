#include "waymark/perf/process_images.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "mapped_parts.h"
#include "waymark/base/bits.h"
#include "waymark/image/image.h"

namespace waymark::perf {
namespace {

template <class Histories, class Value>
void add_change(Histories& histories, std::int32_t key, std::size_t moment, Value value) {
  auto& history = histories[key];
  if (!history.empty() && history.back().value == value) return;
  if (!history.empty() && history.back().moment == moment) {
    history.back().value = std::move(value);
  } else {
    history.push_back({moment, std::move(value)});
  }
}

/// The last change up to the moment; nullptr: nothing was known yet.
template <class History>
const auto* change_at(const History& history, std::size_t moment) {
  const auto after =
      std::ranges::upper_bound(history, moment, {}, [](const auto& c) { return c.moment; });
  return after == history.begin() ? nullptr : &*std::prev(after);
}

/// The value at the moment; nullptr: nothing was known yet.
template <class History>
const auto* value_at(const History& history, std::size_t moment) {
  const auto* const change = change_at(history, moment);
  return change == nullptr ? nullptr : &change->value;
}

template <class Histories>
const auto* value_at(const Histories& histories, std::int32_t key, std::size_t moment) {
  const auto found = histories.find(key);
  using Value = decltype(value_at(found->second, moment));
  return found == histories.end() ? Value{nullptr} : value_at(found->second, moment);
}

/// Whether the process is in the VMID of the trace: CONTEXTIDR_EL2 of a kernel that runs at EL2.
bool context_is_vmid(const Unit& unit) {
  if (unit.kind != UnitKind::kEtmV4 && unit.kind != UnitKind::kEte) return false;
  const std::uint32_t config = unit.reg("TRCCONFIGR").value_or(0);
  return bit<7>(config) || bit<15>(config);
}

}  // namespace

/// The memory of a process, between two changes.  The image is made when it is first needed.
struct ProcessImages::Memory {
  // Versions of address spaces.
  std::uint64_t user = 0;
  std::uint64_t kernel = 0;
  bool guest = false;  ///< That of guests.
  mutable std::once_flag once{};
  mutable std::vector<MappedRange> ranges{};
  mutable std::vector<MappedPart> parts{};  ///< Ascending, without overlaps.
  mutable image::Image image{};

  /// The entry of `all` that has the address; nullptr: there is none.
  template <class Range>
  [[nodiscard]] static const Range* find(const std::vector<Range>& all, std::uint64_t address) {
    const auto after = std::ranges::upper_bound(all, address, {}, &Range::first);
    if (after == all.begin() || std::prev(after)->last < address) return nullptr;
    return &*std::prev(after);
  }
  void make(const Recording& recording, const AddressSpaces& spaces, ProgramFiles& all) const;
};

namespace {

std::shared_ptr<const Mapping> guest_mapping() {
  auto mapping = std::make_shared<Mapping>();
  mapping->size = ~std::uint64_t{0};
  mapping->path = "[guest.kernel.kallsyms]";
  mapping->executable = true;
  mapping->in_kernel = true;
  return mapping;
}

}  // namespace

void ProcessImages::Memory::make(const Recording& recording, const AddressSpaces& spaces,
                                 ProgramFiles& all) const {
  // The kernel is the same for all; where it is not known, its map covers all addresses.
  AddressSpace space = spaces.at(kernel);
  for (const MappedRange& range : spaces.at(user).ranges()) space.map(range);
  // A recording of the host says nothing of the kernel of a guest.
  if (guest && space.ranges().empty() && all.guest_kernel() != nullptr) space.map(guest_mapping());
  ranges = space.ranges();
  parts = mapped_parts(ranges, recording, all);
  for (const MappedPart& part : parts) {
    const std::uint64_t size =
        std::min<std::uint64_t>(part.last - part.first, part.bytes.size() - 1) + 1;
    // Parts of one process do not overlap.
    (void)image.add_view(part.first, part.bytes.first(static_cast<std::size_t>(size)),
                         image::kSpaceAny, part.file->path());
  }
}

program::Place ProgramPlace::linked() const {
  if (names != nullptr) return {names, names_at};
  const program::Program* const program = file == nullptr ? nullptr : file->program();
  const auto address = program == nullptr ? std::nullopt : program->address_of(file_offset);
  return address ? program::Place{program, *address} : program::Place{};
}

ProcessImages::~ProcessImages() = default;

std::size_t ProcessImages::memory_of(std::int32_t pid) {
  const bool guest = pid == TaskId::kGuest;
  const std::uint64_t user = guest ? spaces_.guest().version() : spaces_.of(pid).version();
  const std::uint64_t kernel = guest ? 0 : spaces_.kernel().version();
  // A guest without mappings and a process without them have the same versions.
  constexpr std::uint64_t kOfGuest = ~std::uint64_t{0};
  const auto [known, inserted] =
      by_versions_.try_emplace({user, guest ? kOfGuest : kernel}, memories_.size());
  if (!inserted) return known->second;
  memories_.push_back(std::make_unique<Memory>());
  memories_.back()->user = user;
  memories_.back()->kernel = kernel;
  memories_.back()->guest = guest;
  return known->second;
}

ProcessImages::ProcessImages(const Recording& recording, const std::vector<std::size_t>& order,
                             std::vector<TraceIndex> begins, ProgramFiles& files,
                             const TraceTimes& times)
    : recording_(recording),
      files_(files),
      order_(order),
      begins_(std::move(begins)),
      context_is_vmid_(kTraceIdCount) {
  for (const Unit& unit : recording.units) {
    if (!unit.trace_id || *unit.trace_id >= kTraceIdCount) continue;
    context_is_vmid_[*unit.trace_id] = context_is_vmid(unit);
    cpus_[*unit.trace_id] = static_cast<std::int32_t>(unit.cpu);
  }
  apply_events();
  set_moments(times);
}

void ProcessImages::apply_events() {
  const std::vector<TaskEvent>& events = recording_.events;
  std::uint64_t latest = 0;
  for (const TaskEvent& event : events)
    event_times_.push_back(latest = std::max(latest, event.time));
  std::uint64_t kernel = 0;
  add_change(histories_.memory, -1, 0, memory_of(-1));
  add_change(histories_.memory, TaskId::kGuest, 0, memory_of(TaskId::kGuest));
  std::set<std::int32_t> changed;
  for (std::size_t i = 0; i < events.size();) {
    const Moment moment = moment_of(event_times_[i]);
    changed.clear();
    for (; i < moment; ++i) {
      const TaskEvent& event = events[i];
      spaces_.apply(event);
      changed.insert(event.pid);
      if (event.cpu && event.tid >= 0) {
        const auto cpu = static_cast<std::int32_t>(*event.cpu);
        if (const auto* const switched = std::get_if<Switched>(&event.what)) {
          add_change(histories_.running, cpu, moment, switched->out ? -1 : event.tid);
        } else if (std::holds_alternative<TraceStarted>(event.what)) {
          add_change(histories_.running, cpu, moment, event.tid);
        }
      }
      if (event.tid < 0) continue;
      add_change(histories_.processes, event.tid, moment, spaces_.process_of(event.tid));
      if (!spaces_.name_of(event.tid).empty())
        add_change(histories_.names, event.tid, moment, spaces_.name_of(event.tid));
    }
    if (spaces_.kernel().version() != kernel) {
      kernel = spaces_.kernel().version();
      changed.insert(-1);
      for (const auto& [pid, history] : histories_.memory) changed.insert(pid);
    }
    changed.insert(TaskId::kGuest);
    for (const std::int32_t pid : changed)
      add_change(histories_.memory, pid, moment, memory_of(pid));
  }
}

/// The events up to a time.
ProcessImages::Moment ProcessImages::moment_of(std::uint64_t time) const {
  return static_cast<Moment>(std::ranges::upper_bound(event_times_, time) - event_times_.begin());
}

void ProcessImages::set_moments(const TraceTimes& times) {
  std::map<std::int64_t, Moment> before;
  Moment latest = 0;
  for (const std::size_t number : order_) {
    const Piece& piece = recording_.pieces[number];
    latest = std::max(latest,
                      piece.sample.time ? moment_of(*piece.sample.time) : recording_.events.size());
    moments_.push_back(latest);
    const auto& cpu = recording_.buffers[piece.buffer].cpu;
    Moment& last = before[cpu ? std::int64_t{*cpu} : -1];
    moments_before_.push_back(std::exchange(last, latest));
  }
  for (const auto& [id, places] : times) {
    std::vector<TimedMoment>& line = timed_[id];
    for (const TimedPlace& place : places) line.push_back({place.from, moment_of(place.time)});
  }
}

std::size_t ProcessImages::piece_at(TraceIndex index) const {
  const auto after = std::ranges::upper_bound(begins_, index);
  return after == begins_.begin() ? 0 : static_cast<std::size_t>(after - begins_.begin()) - 1;
}

TraceIndex ProcessImages::piece_begin(TraceIndex index) const {
  return begins_.empty() ? 0 : begins_[piece_at(index)];
}

ProcessImages::Stretch ProcessImages::stretch_at(TraceIndex index, TraceId trace_id) const {
  Stretch stretch;
  stretch.piece = piece_at(index);
  if (begins_.empty()) return stretch;
  stretch.moment = moments_[stretch.piece];
  const TraceIndex piece_begin = begins_[stretch.piece];
  if (stretch.piece != 0) stretch.begin = piece_begin;
  if (stretch.piece + 1 < begins_.size()) stretch.end = begins_[stretch.piece + 1];
  const auto timed = timed_.find(trace_id);
  if (timed == timed_.end()) return stretch;
  const auto& line = timed->second;
  const auto after = std::ranges::upper_bound(line, index, {}, &TimedMoment::from);
  if (after != line.end()) stretch.end = std::min(stretch.end, after->from);
  if (after == line.begin() || std::prev(after)->from < piece_begin) return stretch;
  stretch.moment = std::prev(after)->moment;
  stretch.timed = true;
  stretch.begin = std::max(stretch.begin, std::prev(after)->from);
  return stretch;
}

std::int32_t ProcessImages::thread_in(const Stretch& stretch, TraceId trace_id,
                                      ExecutionContext context) const {
  const bool vmid = thread_is_vmid(trace_id);
  // Under a kernel at EL2, EL1 is a guest's kernel; the process is that of its virtual CPU.
  if (vmid && context.level == 1) return TaskId::kGuest;
  const auto tid =
      static_cast<std::int32_t>(vmid ? context.process >> 32 : context.process & low_mask(32));
  if (tid > 0) return tid;
  if (order_.empty()) return -1;
  const Piece& piece = recording_.pieces[order_[stretch.piece]];
  const auto& recorded = recording_.buffers[piece.buffer].tid;
  if (recorded) return static_cast<std::int32_t>(*recorded);
  if (recording_.per_task && piece.sample.tid) return static_cast<std::int32_t>(*piece.sample.tid);
  const auto cpu = cpus_.find(trace_id);
  return cpu == cpus_.end() ? -1 : thread_on(cpu->second, stretch);
}

/// The thread that ran on the CPU.  Without times in the trace, it must have been the only one
/// since the piece before; the idle task does not count, because it executes nothing of interest.
std::int32_t ProcessImages::thread_on(std::int32_t cpu, const Stretch& stretch) const {
  const auto found = histories_.running.find(cpu);
  if (found == histories_.running.end()) return -1;
  if (stretch.timed) {
    const std::int32_t* const thread = value_at(found->second, stretch.moment);
    return thread == nullptr ? -1 : *thread;
  }
  const Moment from = moments_before_[stretch.piece];
  const std::int32_t* const first = value_at(found->second, from);
  std::int32_t only = first == nullptr ? -1 : std::max(*first, 0);
  for (const auto& change : found->second) {
    if (change.moment <= from || change.moment > stretch.moment || change.value <= 0) continue;
    if (only > 0 && only != change.value) return -1;
    only = change.value;
  }
  return only > 0 ? only : -1;
}

perf::Task ProcessImages::task_in(Moment moment, std::int32_t tid) const {
  perf::Task task{.tid = tid, .pid = tid};
  if (tid == TaskId::kGuest) task.name = "guest";
  if (tid >= 0) {
    if (const auto* const pid = value_at(histories_.processes, tid, moment)) task.pid = *pid;
    if (const auto* const name = value_at(histories_.names, tid, moment)) task.name = *name;
  }
  const auto* memory = value_at(histories_.memory, task.pid, moment);
  // A guest does not see the memory of its host.
  if (memory == nullptr && tid != TaskId::kGuest) memory = value_at(histories_.memory, -1, moment);
  if (memory != nullptr) task.memory = *memory;
  return task;
}

const ProcessImages::History<perf::Task>& ProcessImages::tasks_of(std::int32_t tid) const {
  {
    const std::shared_lock lock(tasks_.mutex);
    if (const auto known = tasks_.of.find(tid); known != tasks_.of.end()) return known->second;
  }
  std::set<Moment> moments = {0};
  const auto add_moments = [&](const auto& histories, std::int32_t key) {
    const auto found = histories.find(key);
    if (found == histories.end()) return;
    for (const auto& change : found->second) moments.insert(change.moment);
  };
  add_moments(histories_.memory, -1);
  add_moments(histories_.memory, tid);
  add_moments(histories_.names, tid);
  add_moments(histories_.processes, tid);
  if (const auto found = histories_.processes.find(tid); found != histories_.processes.end())
    for (const auto& change : found->second) add_moments(histories_.memory, change.value);
  History<perf::Task> tasks;
  for (const Moment moment : moments) {
    perf::Task task = task_in(moment, tid);
    if (tasks.empty() || tasks.back().value != task) tasks.push_back({moment, std::move(task)});
  }
  const std::unique_lock lock(tasks_.mutex);
  return tasks_.of.try_emplace(tid, std::move(tasks)).first->second;
}

image::ImageSelector::Task ProcessImages::task_at(TraceIndex index, TraceId trace_id,
                                                  ExecutionContext context) const {
  const Stretch stretch = stretch_at(index, trace_id);
  const std::int32_t tid = thread_in(stretch, trace_id, context);
  const auto since = change_at(tasks_of(tid), stretch.moment)->moment;
  // Without a context in the trace, the next piece may be of another thread.
  return {.id = {.thread = tid, .moment = static_cast<std::uint32_t>(since)},
          .begin = stretch.begin,
          .end = stretch.end};
}

// The first task of a thread begins at moment 0, so there is one at each moment.
const perf::Task& ProcessImages::task(TaskId id) const {
  return *value_at(tasks_of(id.thread), Moment{id.moment});
}

bool ProcessImages::has_task(TaskId id) const {
  return change_at(tasks_of(id.thread), Moment{id.moment})->moment == id.moment;
}

std::vector<perf::Task> ProcessImages::known_tasks() const {
  std::set<std::int32_t> tids;
  for (const auto& [tid, history] : histories_.processes) tids.insert(tid);
  for (const Buffer& buffer : recording_.buffers)
    if (buffer.tid) tids.insert(static_cast<std::int32_t>(*buffer.tid));
  std::vector<perf::Task> all;
  for (const std::int32_t tid : tids) {
    for (const auto& change : tasks_of(tid)) all.push_back(change.value);
  }
  return all;
}

std::vector<std::string> ProcessImages::known_programs() const {
  std::set<std::string> paths;
  for (const TaskEvent& event : recording_.events) {
    const auto* const mapping = std::get_if<Mapping>(&event.what);
    if (mapping != nullptr && mapping->executable) paths.insert(mapping->path);
  }
  return {paths.begin(), paths.end()};
}

const ProcessImages::Memory& ProcessImages::memory(std::size_t number) const {
  const Memory& memory = *memories_[number];
  std::call_once(memory.once, [&] { memory.make(recording_, spaces_, files_); });
  return memory;
}

const image::Image& ProcessImages::image_at(TraceIndex index, TraceId trace_id,
                                            ExecutionContext context) const {
  return memory(task(task_at(index, trace_id, context).id).memory).image;
}

ProgramPlace ProcessImages::place(TaskId task, std::uint64_t address) const {
  const Memory& in = memory(this->task(task).memory);
  if (const MappedPart* const part = Memory::find(in.parts, address)) {
    return {.mapping = part->mapping,
            .file_offset = part->file_offset + (address - part->first),
            .bytes = part->bytes.subspan(std::min<std::size_t>(
                static_cast<std::size_t>(address - part->first), part->bytes.size())),
            .file = part->file,
            .names = part->names,
            .names_at = address - part->names_bias,
            .first = part->first,
            .last = part->last};
  }
  const MappedRange* const range = Memory::find(in.ranges, address);
  if (range == nullptr) return {};
  // As far as no part begins.
  const auto after = std::ranges::upper_bound(in.parts, address, {}, &MappedPart::first);
  const std::uint64_t end =
      after == in.parts.end() ? range->last : std::min(range->last, after->first - 1);
  const std::uint64_t begin =
      after == in.parts.begin() ? range->first : std::max(range->first, std::prev(after)->last + 1);
  return {.mapping = range->mapping,
          .file_offset = range->file_offset + (address - range->first),
          .names = range->mapping->names.get(),
          .names_at = address,
          .first = begin,
          .last = end};
}

}  // namespace waymark::perf
