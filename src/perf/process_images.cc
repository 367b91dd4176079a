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

ProcessImages::~ProcessImages() = default;

ProcessImages::Memory* ProcessImages::memory_of(const AddressSpaces& spaces, std::int32_t pid) {
  const AddressSpace& user = spaces.of(pid);
  Memory*& known = by_versions_[user.version()];
  if (known != nullptr) return known;
  auto memory = std::make_unique<Memory>();
  memory->ranges = user.ranges();
  known = memory.get();
  memories_.push_back(std::move(memory));
  return known;
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
    for (const std::int32_t pid : changed) add_change(memory_, pid, piece, memory_of(spaces, pid));
  }
}

std::size_t ProcessImages::piece_at(TraceIndex index) const {
  const auto after = std::ranges::upper_bound(begins_, index);
  return after == begins_.begin() ? 0 : static_cast<std::size_t>(after - begins_.begin()) - 1;
}

TraceIndex ProcessImages::piece_begin(TraceIndex index) const {
  return begins_.empty() ? 0 : begins_[piece_at(index)];
}

std::int32_t ProcessImages::thread_at(TraceIndex index, TraceId trace_id,
                                      std::uint64_t context) const {
  const bool vmid = trace_id < kTraceIdCount && context_is_vmid_[trace_id];
  const auto tid = static_cast<std::int32_t>(vmid ? context >> 32 : context & low_mask(32));
  if (tid > 0) return tid;
  if (order_.empty()) return -1;
  const Piece& piece = recording_.pieces[order_[piece_at(index)]];
  const auto& recorded = recording_.buffers[piece.buffer].tid;
  return recorded ? static_cast<std::int32_t>(*recorded) : -1;
}

std::int32_t ProcessImages::process_at(TraceIndex index, std::int32_t tid) const {
  const auto* const pid = value_at(processes_, tid, piece_at(index));
  return pid == nullptr ? tid : *pid;
}

const std::string& ProcessImages::name_at(TraceIndex index, std::int32_t tid) const {
  static const std::string kNone;
  const auto* const name = value_at(names_, tid, piece_at(index));
  return name == nullptr ? kNone : *name;
}

const ProcessImages::Memory& ProcessImages::memory_at(TraceIndex index, std::int32_t tid) const {
  static const Memory kNone;
  if (tid < 0) return kNone;
  Memory* const* const memory = value_at(memory_, process_at(index, tid), piece_at(index));
  if (memory == nullptr) return kNone;
  std::call_once((*memory)->once, [&] { (*memory)->make(recording_, files_); });
  return **memory;
}

const image::Image& ProcessImages::image_at(TraceIndex index, TraceId trace_id,
                                            std::uint64_t context) const {
  return memory_at(index, thread_at(index, trace_id, context)).image;
}

ProgramPlace ProcessImages::place_at(TraceIndex index, std::int32_t tid,
                                     std::uint64_t address) const {
  const Memory& memory = memory_at(index, tid);
  const MappedRange* const range = memory.find(address);
  if (range == nullptr) return {};
  return {.mapping = range->mapping,
          .file_offset = range->file_offset + (address - range->first),
          .file = memory.file_of(*range)};
}

}  // namespace waymark::perf
