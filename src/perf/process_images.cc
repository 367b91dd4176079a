#include "waymark/perf/process_images.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "waymark/base/bits.h"
#include "waymark/image/image.h"

namespace waymark::perf {
namespace {

template <class Histories, class Value>
void add_change(Histories& histories, std::int32_t key, std::size_t piece, Value value) {
  auto& history = histories[key];
  if (!history.empty() && history.back().value == value) return;
  if (!history.empty() && history.back().piece == piece) {
    history.back().value = std::move(value);
  } else {
    history.push_back({piece, std::move(value)});
  }
}

/// What held at the piece; nullptr: nothing was known yet.
template <class History>
const auto* value_at(const History& history, std::size_t piece) {
  const auto after =
      std::ranges::upper_bound(history, piece, {}, [](const auto& c) { return c.piece; });
  return after == history.begin() ? nullptr : &std::prev(after)->value;
}

template <class Histories>
const auto* value_at(const Histories& histories, std::int32_t key, std::size_t piece) {
  const auto found = histories.find(key);
  using Value = decltype(value_at(found->second, piece));
  return found == histories.end() ? Value{nullptr} : value_at(found->second, piece);
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
  std::vector<MappedRange> ranges{};
  mutable std::once_flag once{};
  mutable std::vector<const ProgramFile*> files{};  ///< One for each range; nullptr: it is missing.
  mutable image::Image image{};

  /// The range with the address; nullptr: there is none.
  [[nodiscard]] const MappedRange* find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges, address, {}, &MappedRange::first);
    if (after == ranges.begin() || std::prev(after)->last < address) return nullptr;
    return &*std::prev(after);
  }
  [[nodiscard]] const ProgramFile* file_of(const MappedRange& range) const {
    return files[static_cast<std::size_t>(&range - ranges.data())];
  }
  void make(const Recording& recording, ProgramFiles& all) const;
};

namespace {

const ProgramFile* find_file(const Mapping& mapping, const Recording& recording,
                             ProgramFiles& files) {
  if (!mapping.build_id.empty()) return files.find(mapping.path, mapping.build_id);
  const auto named = std::ranges::find(recording.build_ids, mapping.path, &BuildId::path);
  return files.find(mapping.path,
                    named == recording.build_ids.end() ? std::vector<std::uint8_t>() : named->id);
}

}  // namespace

void ProcessImages::Memory::make(const Recording& recording, ProgramFiles& all) const {
  files.resize(ranges.size());
  for (const MappedRange& range : ranges) {
    if (!range.mapping->executable) continue;
    const ProgramFile* const program = find_file(*range.mapping, recording, all);
    files[static_cast<std::size_t>(&range - ranges.data())] = program;
    if (program == nullptr) continue;
    const Bytes bytes = program->file().bytes();
    if (range.file_offset >= bytes.size()) continue;
    const std::uint64_t size =
        std::min<std::uint64_t>(range.last - range.first, bytes.size() - range.file_offset - 1) + 1;
    // Ranges of one process do not overlap.
    (void)image.add_view(range.first, bytes.subspan(range.file_offset, size), image::kSpaceAny,
                         program->file().path());
  }
}

program::Place ProgramPlace::linked() const {
  const program::Program* const program = file == nullptr ? nullptr : file->program();
  const auto address = program == nullptr ? std::nullopt : program->address_of(file_offset);
  return address ? program::Place{program, *address} : program::Place{};
}

ProcessImages::~ProcessImages() = default;

std::size_t ProcessImages::memory_of(const AddressSpaces& spaces, std::int32_t pid) {
  const AddressSpace& user = spaces.of(pid);
  const auto [known, inserted] =
      by_versions_.try_emplace({user.version(), spaces.kernel().version()}, memories_.size());
  if (!inserted) return known->second;
  // The kernel is the same for all; where it is not known, its map covers all addresses.
  AddressSpace all = spaces.kernel();
  for (const MappedRange& range : user.ranges()) all.map(range);
  memories_.push_back(std::make_unique<Memory>());
  memories_.back()->ranges = all.ranges();
  return known->second;
}

ProcessImages::ProcessImages(const Recording& recording, const std::vector<std::size_t>& order,
                             std::vector<TraceIndex> begins, ProgramFiles& files)
    : recording_(recording),
      files_(files),
      order_(order),
      begins_(std::move(begins)),
      context_is_vmid_(kTraceIdCount) {
  for (const Unit& unit : recording.units)
    if (unit.trace_id && *unit.trace_id < kTraceIdCount)
      context_is_vmid_[*unit.trace_id] = context_is_vmid(unit);
  AddressSpaces spaces;
  std::uint64_t kernel = 0;
  add_change(memory_, -1, 0, memory_of(spaces, -1));
  std::set<std::int32_t> changed;
  auto event = recording.events.begin();
  for (std::size_t piece = 0; piece < order_.size(); ++piece) {
    const auto time = recording.pieces[order_[piece]].sample.time;
    changed.clear();
    for (; event != recording.events.end() && (!time || event->time <= *time); ++event) {
      spaces.apply(*event);
      changed.insert(event->pid);
      if (event->tid < 0) continue;
      add_change(processes_, event->tid, piece, spaces.process_of(event->tid));
      if (!spaces.name_of(event->tid).empty())
        add_change(names_, event->tid, piece, spaces.name_of(event->tid));
    }
    if (spaces.kernel().version() != kernel) {
      kernel = spaces.kernel().version();
      changed.insert(-1);
      for (const auto& [pid, history] : memory_) changed.insert(pid);
    }
    for (const std::int32_t pid : changed) add_change(memory_, pid, piece, memory_of(spaces, pid));
  }
  // Their elements have no context that tells them apart, so their numbers order the counts.
  std::set<std::int32_t> recorded;
  for (const Buffer& buffer : recording.buffers)
    if (buffer.tid) recorded.insert(static_cast<std::int32_t>(*buffer.tid));
  for (const std::int32_t tid : recorded) static_cast<void>(tasks_of(tid));
}

std::size_t ProcessImages::piece_at(TraceIndex index) const {
  const auto after = std::ranges::upper_bound(begins_, index);
  return after == begins_.begin() ? 0 : static_cast<std::size_t>(after - begins_.begin()) - 1;
}

TraceIndex ProcessImages::piece_begin(TraceIndex index) const {
  return begins_.empty() ? 0 : begins_[piece_at(index)];
}

std::int32_t ProcessImages::thread_in(std::size_t piece, TraceId trace_id,
                                      std::uint64_t context) const {
  const bool vmid = trace_id < kTraceIdCount && context_is_vmid_[trace_id];
  const auto tid = static_cast<std::int32_t>(vmid ? context >> 32 : context & low_mask(32));
  if (tid > 0) return tid;
  if (order_.empty()) return -1;
  const auto& recorded = recording_.buffers[recording_.pieces[order_[piece]].buffer].tid;
  return recorded ? static_cast<std::int32_t>(*recorded) : -1;
}

perf::Task ProcessImages::task_in(std::size_t piece, std::int32_t tid) const {
  perf::Task task{.tid = tid, .pid = tid};
  if (tid >= 0) {
    if (const auto* const pid = value_at(processes_, tid, piece)) task.pid = *pid;
    if (const auto* const name = value_at(names_, tid, piece)) task.name = *name;
  }
  const auto* memory = value_at(memory_, task.pid, piece);
  if (memory == nullptr) memory = value_at(memory_, -1, piece);
  if (memory != nullptr) task.memory = *memory;
  return task;
}

// The numbers of a thread's tasks ascend with time, whichever thread is asked for first: the order
// of counts does not depend on it.
const ProcessImages::History<std::uint32_t>& ProcessImages::tasks_of(std::int32_t tid) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = tasks_of_.find(tid); known != tasks_of_.end()) return known->second;
  }
  std::set<std::size_t> pieces = {0};
  const auto add_pieces = [&](const auto& histories, std::int32_t key) {
    const auto found = histories.find(key);
    if (found == histories.end()) return;
    for (const auto& change : found->second) pieces.insert(change.piece);
  };
  add_pieces(memory_, -1);
  add_pieces(memory_, tid);
  add_pieces(names_, tid);
  add_pieces(processes_, tid);
  if (const auto found = processes_.find(tid); found != processes_.end())
    for (const auto& change : found->second) add_pieces(memory_, change.value);
  const std::unique_lock lock(mutex_);
  const auto [at, inserted] = tasks_of_.try_emplace(tid);
  if (!inserted) return at->second;
  for (const std::size_t piece : pieces) {
    perf::Task task = task_in(piece, tid);
    if (!at->second.empty() && tasks_[at->second.back().value] == task) continue;
    at->second.push_back({piece, static_cast<std::uint32_t>(tasks_.size())});
    tasks_.push_back(std::move(task));
  }
  return at->second;
}

image::ImageSelector::Task ProcessImages::task_at(TraceIndex index, TraceId trace_id,
                                                  std::uint64_t context) const {
  const std::size_t piece = piece_at(index);
  const History<std::uint32_t>& tasks = tasks_of(thread_in(piece, trace_id, context));
  // Without a context in the trace, the next piece may be of another thread.
  return {.number = *value_at(tasks, piece),
          .begin = piece == 0 ? 0 : begins_[piece],
          .end = piece + 1 < begins_.size() ? begins_[piece + 1] : kNoIndex};
}

const perf::Task& ProcessImages::task(std::uint32_t number) const {
  const std::shared_lock lock(mutex_);
  return tasks_[number];
}

std::vector<perf::Task> ProcessImages::known_tasks() const {
  std::set<std::int32_t> tids;
  for (const auto& [tid, history] : processes_) tids.insert(tid);
  for (const Buffer& buffer : recording_.buffers)
    if (buffer.tid) tids.insert(static_cast<std::int32_t>(*buffer.tid));
  std::vector<perf::Task> all;
  for (const std::int32_t tid : tids) {
    for (const auto& change : tasks_of(tid)) all.push_back(task(change.value));
  }
  return all;
}

std::vector<std::string> ProcessImages::known_programs() const {
  std::set<std::string> paths;
  for (const auto& memory : memories_)
    for (const MappedRange& range : memory->ranges)
      if (range.mapping->executable) paths.insert(range.mapping->path);
  return {paths.begin(), paths.end()};
}

const ProcessImages::Memory& ProcessImages::memory(std::size_t number) const {
  const Memory& memory = *memories_[number];
  std::call_once(memory.once, [&] { memory.make(recording_, files_); });
  return memory;
}

const image::Image& ProcessImages::image_at(TraceIndex index, TraceId trace_id,
                                            std::uint64_t context) const {
  return memory(task(task_at(index, trace_id, context).number).memory).image;
}

ProgramPlace ProcessImages::place(std::uint32_t task, std::uint64_t address) const {
  const Memory& in = memory(this->task(task).memory);
  const MappedRange* const range = in.find(address);
  if (range == nullptr) return {};
  return {.mapping = range->mapping,
          .file_offset = range->file_offset + (address - range->first),
          .file = in.file_of(*range),
          .first = range->first,
          .last = range->last};
}

}  // namespace waymark::perf
