#include "waymark/perf/process_images.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "waymark/base/bits.h"
#include "waymark/image/image.h"
#include "waymark/perf/jitted_code.h"
#include "waymark/program/kernel.h"

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

/// A part of a range that a file shows.
struct MappedPart {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t file_offset = 0;
  Bytes bytes{};  ///< From `first` on; they may end earlier.
  std::shared_ptr<const Mapping> mapping{};
  const ProgramFile* file = nullptr;
  const program::Program* names = nullptr;  ///< As in ProgramPlace.
  std::uint64_t names_bias = 0;             ///< How far above the addresses of `names` the code is.
};

/// The memory of a process, between two changes.  The image is made when it is first needed.
struct ProcessImages::Memory {
  std::vector<MappedRange> ranges{};
  mutable std::once_flag once{};
  mutable std::vector<MappedPart> parts{};  ///< Ascending, without overlaps.
  mutable image::Image image{};

  /// What has the address, of `all`; nullptr: there is none.
  template <class Range>
  [[nodiscard]] static const Range* find(const std::vector<Range>& all, std::uint64_t address) {
    const auto after = std::ranges::upper_bound(all, address, {}, &Range::first);
    if (after == all.begin() || std::prev(after)->last < address) return nullptr;
    return &*std::prev(after);
  }
  void make(const Recording& recording, ProgramFiles& all) const;
};

namespace {

constexpr std::string_view kKernelName = "[kernel.kallsyms]";

std::vector<std::uint8_t> recorded_id(const Recording& recording, std::string_view path) {
  const auto named = std::ranges::find(recording.build_ids, path, &BuildId::path);
  return named == recording.build_ids.end() ? std::vector<std::uint8_t>() : named->id;
}

const ProgramFile* find_file(const Mapping& mapping, const Recording& recording,
                             ProgramFiles& files) {
  if (!mapping.build_id.empty()) return files.find(mapping.path, mapping.build_id);
  return files.find(mapping.path, recorded_id(recording, mapping.path));
}

/// Finds the files of ranges.
class PartFinder {
 public:
  PartFinder(const Recording& recording, ProgramFiles& files)
      : recording_(recording), files_(files) {}

  std::vector<MappedPart> parts_of(const std::vector<MappedRange>& ranges) {
    for (const MappedRange& range : ranges) {
      if (!range.mapping->executable) continue;
      if (range.mapping->jitted) {
        add_jitted(range);
        continue;
      }
      if (range.mapping->in_kernel && add_kcore(range)) continue;
      if (range.mapping->path.starts_with(kKernelName)) {
        add_kernel(range);
      } else {
        add_file(range);
      }
    }
    std::ranges::sort(parts_, {}, &MappedPart::first);
    return std::move(parts_);
  }

 private:
  /// The stretch of a file at an address, as far as the range reaches.
  void add(const MappedRange& range, std::uint64_t address, std::uint64_t offset, Bytes bytes,
           const ProgramFile* file, const program::Program* names) {
    if (bytes.empty() || address > range.last) return;
    const std::uint64_t last = address + std::min<std::uint64_t>(bytes.size() - 1, ~address);
    if (last < range.first) return;
    const std::uint64_t skipped = address < range.first ? range.first - address : 0;
    parts_.push_back({.first = address + skipped,
                      .last = std::min(last, range.last),
                      .file_offset = offset + skipped,
                      .bytes = bytes.subspan(static_cast<std::size_t>(skipped)),
                      .mapping = range.mapping,
                      .file = file,
                      .names = names});
  }

  void add_file(const MappedRange& range) {
    const ProgramFile* const file = find_file(*range.mapping, recording_, files_);
    if (file == nullptr) return;
    if (range.mapping->in_kernel) {
      if (const program::ModuleCode* const code = file->module_code()) {
        const std::uint64_t start = range.mapping->address + text_distance(*range.mapping, *file);
        add(range, start, code->file_offset, code->bytes, file, nullptr);
        return;
      }
    }
    const Bytes bytes = file->bytes();
    if (range.file_offset >= bytes.size()) return;
    add(range, range.first, range.file_offset,
        bytes.subspan(static_cast<std::size_t>(range.file_offset)), file, nullptr);
  }

  void add_jitted(const MappedRange& range) {
    const JittedFunction& function = *range.mapping->jitted;
    const std::uint64_t address = range.mapping->address;
    const std::size_t before = parts_.size();
    add(range, address, function.file_offset(), function.code(), &function.file(),
        function.program());
    if (parts_.size() != before) parts_.back().names_bias = address - function.address();
  }

  /// perf maps a module from its code on, simpleperf all of it.
  [[nodiscard]] std::uint64_t text_distance(const Mapping& mapping, const ProgramFile& file) const {
    if (!recording_.simpleperf) return 0;
    const auto known = recording_.module_offsets.find(mapping.path);
    if (known != recording_.module_offsets.end()) return known->second;
    const program::Program* const program = file.program();
    return program == nullptr ? 0
                              : program->address_of(file.module_code()->file_offset).value_or(0);
  }

  bool add_kcore(const MappedRange& range) {
    const ProgramFile* const kcore = files_.kcore();
    if (kcore == nullptr) return false;
    const std::size_t before = parts_.size();
    for (const program::LoadedPart& part : program::executable_parts(kcore->bytes())) {
      add(range, part.address, part.file_offset,
          kcore->bytes().subspan(static_cast<std::size_t>(part.file_offset),
                                 static_cast<std::size_t>(part.size)),
          kcore, files_.kernel_names());
    }
    return parts_.size() != before;
  }

  void add_kernel(const MappedRange& range) {
    const ProgramFile* const file = files_.kernel(recorded_id(recording_, kKernelName));
    if (file == nullptr) return;
    const Bytes bytes = file->bytes();
    const std::uint64_t slide = slide_of(*range.mapping, bytes);
    for (const program::LoadedPart& part : program::executable_parts(bytes)) {
      add(range, part.address + slide, part.file_offset,
          bytes.subspan(static_cast<std::size_t>(part.file_offset),
                        static_cast<std::size_t>(part.size)),
          file, files_.kernel_names());
    }
  }

  /// How far above its link-time addresses the kernel ran.
  std::uint64_t slide_of(const Mapping& mapping, Bytes vmlinux) {
    // perf writes where the symbol was as the offset in the file, simpleperf as the address.
    std::string symbol = mapping.path.substr(kKernelName.size());
    std::uint64_t ran = mapping.file_offset != 0 ? mapping.file_offset : mapping.address;
    if (symbol.empty()) symbol = "_text";
    const program::Program* const names = files_.kernel_names();
    if (ran == 0 && names != nullptr) {
      for (const std::string_view name : {"_text", "_stext"}) {
        const auto at = std::ranges::find(names->functions(), name, &program::Function::name);
        if (at == names->functions().end()) continue;
        symbol = name;
        ran = at->start;
        break;
      }
    }
    const auto linked = program::symbol_value(vmlinux, symbol);
    return ran == 0 || !linked ? 0 : ran - *linked;
  }

  const Recording& recording_;
  ProgramFiles& files_;
  std::vector<MappedPart> parts_;
};

}  // namespace

void ProcessImages::Memory::make(const Recording& recording, ProgramFiles& all) const {
  parts = PartFinder(recording, all).parts_of(ranges);
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
  if (const MappedPart* const part = Memory::find(in.parts, address)) {
    return {.mapping = part->mapping,
            .file_offset = part->file_offset + (address - part->first),
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
