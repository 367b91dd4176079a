// Perf and simpleperf recordings.  The pieces of trace in them become one trace of frames, with
// a mark before each piece that resets the decoders.  See perf-cs-etm.md 3 and simpleperf.md 4.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <system_error>

#include "capture_builder.h"
#include "image_checker.h"
#include "perf_input.h"
#include "temporary_file.h"
#include "waymark/base/plural.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/mux.h"

namespace waymark::inputs {
namespace {

std::string_view protocol_of(perf::UnitKind kind) {
  switch (kind) {
    case perf::UnitKind::kEtmV3:
      return "ETM3";
    case perf::UnitKind::kPtm:
      return "PTM1";
    case perf::UnitKind::kEtmV4:
      return "ETM4";
    case perf::UnitKind::kEte:
      return "ETE";
  }
  return {};
}

/// As Linux names the units.
std::string_view device_of(perf::UnitKind kind) {
  switch (kind) {
    case perf::UnitKind::kEtmV3:
    case perf::UnitKind::kEtmV4:
      return "etm";
    case perf::UnitKind::kPtm:
      return "ptm";
    case perf::UnitKind::kEte:
      return "ete";
  }
  return {};
}

bool is_old(perf::UnitKind kind) {
  return kind == perf::UnitKind::kEtmV3 || kind == perf::UnitKind::kPtm;
}

/// Gives each unit a trace ID that no other one has, since sinks have their own.
class UnitIds {
 public:
  explicit UnitIds(perf::Recording& recording) {
    std::set<TraceId> taken;
    for (const perf::Unit& unit : recording.units)
      if (unit.trace_id) taken.insert(*unit.trace_id);
    std::set<TraceId> given;
    for (perf::Unit& unit : recording.units) {
      const std::optional<TraceId> recorded = unit.trace_id;
      if (!recorded || !given.insert(*recorded).second) {
        TraceId free = 1;
        while (taken.contains(free)) ++free;
        if (!is_source_id(free)) continue;
        unit.trace_id = free;
        taken.insert(free);
        given.insert(free);
        changed_ = changed_ || recorded.has_value();
      }
      if (recorded) new_ids_[{unit.sink.value_or(0), *recorded}] = *unit.trace_id;
    }
  }

  /// Some unit has another ID than in the frames.
  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] TraceId of(std::uint32_t sink, TraceId recorded) const {
    const auto found = new_ids_.find({sink, recorded});
    return found == new_ids_.end() ? recorded : found->second;
  }

 private:
  std::map<std::pair<std::uint32_t, TraceId>, TraceId> new_ids_;
  bool changed_ = false;
};

/// Writes the pieces as one trace, and keeps little of them in memory.
class PieceWriter {
 public:
  /// `content`: the file with the recording, if it is one file.
  PieceWriter(perf::Recording& recording, MappedFile& content, TemporaryFile& out)
      : recording_(recording), content_(content), ids_(recording), out_(out) {}

  /// Returns where the piece begins.
  Result<TraceIndex> write(const perf::Piece& piece) {
    const TraceIndex begin = size_;
    Bytes bytes = recording_.bytes(piece);
    const perf::Unit* const unit = unit_of(piece);
    TraceId id = 0;
    if (unit != nullptr && unit->trace_id) {
      id = *unit->trace_id;
    } else if (piece.raw()) {
      ++without_unit_;
      return begin;
    }
    if (!piece.raw()) {
      cut_ += bytes.size() % frames::kFrameSize;
      bytes = bytes.first(bytes.size() - bytes.size() % frames::kFrameSize);
    }
    frames::Mux mux;
    mux.append_reset();
    frames::Demux demux({.memory_aligned = true, .reset_on_4x_fsync = true});
    for (std::size_t at = 0; at < bytes.size(); at += kStep) {
      const Bytes step = bytes.subspan(at, std::min(kStep, bytes.size() - at));
      if (piece.raw()) {
        WAYMARK_TRY(mux.write(id, step));
      } else if (ids_.changed()) {
        WAYMARK_TRY(demux.feed(at, step));
        WAYMARK_TRY(rename(demux, sink_of(piece), mux));
      }
      WAYMARK_TRY(put(mux.take()));
      if (!piece.raw() && !ids_.changed()) WAYMARK_TRY(put(step));
      passed(step);
    }
    mux.finish();
    WAYMARK_TRY(put(mux.take()));
    return begin;
  }

  [[nodiscard]] std::uint64_t cut() const { return cut_; }
  [[nodiscard]] std::size_t without_unit() const { return without_unit_; }

 private:
  [[nodiscard]] const perf::Unit* unit_of(const perf::Piece& piece) const {
    const auto& buffer = recording_.buffers[piece.buffer];
    const auto cpu = piece.sample.cpu ? piece.sample.cpu : buffer.cpu;
    return cpu ? recording_.unit_of_cpu(*cpu) : nullptr;
  }
  [[nodiscard]] std::uint32_t sink_of(const perf::Piece& piece) const {
    const perf::Unit* const unit = unit_of(piece);
    return unit == nullptr ? 0 : unit->sink.value_or(0);
  }

  /// The frames with other IDs.
  Result<void> rename(frames::Demux& demux, std::uint32_t sink, frames::Mux& mux) const {
    for (frames::Step step = demux.step(); step != frames::Step::kNeedInput; step = demux.step()) {
      if (step == frames::Step::kError) demux.resync();
      if (step != frames::Step::kFrame) continue;
      for (const frames::Segment& segment : demux.frame().view()) {
        if (segment.size == 0 || segment.id >= kTraceIdCount) continue;
        const TraceId id = is_source_id(segment.id) ? ids_.of(sink, segment.id) : segment.id;
        WAYMARK_TRY(mux.write(id, segment.bytes()));
      }
    }
    return {};
  }

  /// These bytes have been copied.
  void passed(Bytes bytes) {
    const std::uint8_t* const first = content_.bytes().data();
    const std::uint8_t* const end = bytes.data() + bytes.size();
    if (std::less_equal<>()(first, end) && std::less_equal<>()(end, first + content_.size()))
      content_.passed(static_cast<std::size_t>(end - first));
  }

  Result<void> put(Bytes bytes) {
    size_ += bytes.size();
    return out_.write(bytes);
  }

  static constexpr std::size_t kStep = std::size_t{1} << 20;  ///< Whole frames.

  perf::Recording& recording_;
  MappedFile& content_;
  UnitIds ids_;
  TemporaryFile& out_;
  TraceIndex size_ = 0;
  std::uint64_t cut_ = 0;
  std::size_t without_unit_ = 0;
};

/// The pieces with bytes, in the order in which they are decoded: that of their times, if all have
/// one.
std::vector<std::size_t> order_of(const perf::Recording& recording) {
  std::vector<std::size_t> order;
  bool timed = true;
  for (std::size_t i = 0; i < recording.pieces.size(); ++i) {
    if (recording.pieces[i].size == 0) continue;
    order.push_back(i);
    timed = timed && recording.pieces[i].sample.time.has_value();
  }
  if (timed) {
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return recording.pieces[i].sample.time.value_or(0); });
  }
  return order;
}

}  // namespace

void CaptureBuilder::note_losses(const perf::Losses& losses) {
  if (losses.truncated != 0) {
    note_loss(
        fmt::format("{}: trace was lost {}, because the buffer was full; record with a larger one "
                    "(perf record -m ,64M), or less with a filter or --per-thread.",
                    name_, counted(losses.truncated, "time")));
  }
  if (losses.partial != 0) {
    note_loss(fmt::format("{}: {} of trace {} gaps.", name_, counted(losses.partial, "piece"),
                          one_or(losses.partial, "has", "have")));
  }
  if (losses.collisions != 0) {
    note_loss(fmt::format("{}: another user of the trace buffer disturbed {} of trace.", name_,
                          counted(losses.collisions, "piece")));
  }
  if (losses.missing != 0) {
    note_loss(fmt::format(
        "{}: {} of trace with {} {} not in the file{}.", name_, counted(losses.missing, "piece"),
        counted(losses.missing_bytes, "byte"), one_or(losses.missing, "is", "are"),
        losses.missing == 1 ? fmt::format(" ({})", losses.first_missing)
                            : fmt::format("; the first is at {}", losses.first_missing)));
  }
  if (losses.lost_records != 0) {
    note_loss(fmt::format("{}: perf lost {}, so that processes and their memory may be incomplete.",
                          name_, counted(losses.lost_records, "record")));
  }
}

/// A recording says itself what was in memory, and where.
Result<void> CaptureBuilder::refuse_places() const {
  if (!options_.images.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: a recording states what was in memory; name programs with --elf "
                            "or --symfs instead of --image.",
                            name_));
  }
  for (const ProgramFile& program : options_.programs) {
    if (program.bias == 0) continue;
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "{}: a recording states where its programs were; use --elf {} without an address.",
            name_, program.path));
  }
  return {};
}

Result<void> CaptureBuilder::read_recording() {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path_, error);
  MappedFile content = std::move(capture_.trace_);
  auto file = folder ? perf::File::open(path_) : perf::File::read(content.bytes(), name_);
  if (!file) return std::unexpected(file.error());
  auto recording = perf::Recording::read(*file);
  if (!recording) {
    return fail(recording.error().code, fmt::format("{}: {}", name_, recording.error().detail));
  }
  capture_.perf_ = std::make_shared<PerfInput>(PerfInput{
      .content = std::move(content), .file = *std::move(file), .recording = *std::move(recording)});
  PerfInput& input = *capture_.perf_;
  for (const perf::Note& each : input.recording.notes) note(each.text, each.severity);
  note_losses(input.recording.losses);
  if (std::ranges::none_of(input.recording.events, [](const perf::TaskEvent& event) {
        return std::holds_alternative<perf::Mapping>(event.what);
      })) {
    note(
        fmt::format("{}: the recording has no MMAP records, so what was in memory is unknown. "
                    "Record again without the option --synth=no of perf record.",
                    name_));
  }
  input.order = order_of(input.recording);
  if (!input.order.empty()) return {};
  if (input.recording.losses.missing != 0) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: none of the recorded trace is in the file; the first missing "
                            "piece is at {}. The file was cut short or changed.",
                            name_, input.recording.losses.first_missing));
  }
  return fail(ErrorCode::kBadData,
              fmt::format("{}: the recording has no trace. Check that the traced program ran on "
                          "the recorded CPUs, and that the sink could be enabled.",
                          name_));
}

/// Joins the pieces of trace, and gives where each begins.
Result<std::vector<TraceIndex>> CaptureBuilder::join_pieces() {
  PerfInput& input = *capture_.perf_;
  auto joined = TemporaryFile::create(fmt::format("Cannot copy the trace of {}", name_));
  if (!joined) return std::unexpected(joined.error());
  PieceWriter writer(input.recording, input.content, *joined);
  std::vector<TraceIndex> begins;
  begins.reserve(input.order.size());
  for (const std::size_t piece : input.order) {
    WAYMARK_TRY(go_on());
    const auto begin = writer.write(input.recording.pieces[piece]);
    if (!begin) return std::unexpected(begin.error());
    begins.push_back(*begin);
  }
  if (writer.cut() != 0) {
    note(fmt::format("{}: {} at the ends of pieces of trace {} not fill a frame and {} ignored.",
                     name_, counted(writer.cut(), "byte"), one_or(writer.cut(), "does", "do"),
                     one_or(writer.cut(), "is", "are")));
  }
  if (writer.without_unit() != 0) {
    note(
        fmt::format("{}: {} of trace {} from CPUs without a description of their trace unit and "
                    "{} left out.",
                    name_, counted(writer.without_unit(), "piece"),
                    one_or(writer.without_unit(), "comes", "come"),
                    one_or(writer.without_unit(), "is", "are")));
  }
  WAYMARK_TRY(set_trace(joined->map(name_)));
  capture_.framing_ = Framing::kPieces;
  return begins;
}

Result<void> CaptureBuilder::read_perf_input() {
  WAYMARK_TRY(refuse_places());
  WAYMARK_TRY(read_recording());
  PerfInput& input = *capture_.perf_;
  auto begins = join_pieces();
  if (!begins) return std::unexpected(begins.error());
  std::vector<std::string> given;
  given.reserve(options_.programs.size());
  for (const ProgramFile& program : options_.programs) given.push_back(program.path);
  add_kernel_of_folder();
  input.programs = std::make_unique<perf::ProgramFiles>(
      perf::ProgramSearch{.roots = options_.roots,
                          .given = std::move(given),
                          .caches = options_.caches,
                          .vmlinux = options_.vmlinux,
                          .kallsyms = options_.kallsyms,
                          .kcore = options_.kcore,
                          .guest_vmlinux = options_.guest_vmlinux,
                          .guest_kallsyms = options_.guest_kallsyms,
                          .fetch = options_.fetch});
  WAYMARK_TRY(check_kernel(*input.programs));
  input.jitted = perf::add_jitted_code(input.recording, *input.programs);
  for (const perf::Note& each : input.jitted.notes) note(each.text, each.severity);
  const auto times = align_times(*begins);
  if (!times) return std::unexpected(times.error());
  note_missing_contexts();
  input.processes = std::make_unique<perf::ProcessImages>(
      input.recording, input.order, *std::move(begins), *input.programs, *times);
  return {};
}

/// `perf record --kcore` makes a folder with copies of /proc/kcore and /proc/kallsyms.
void CaptureBuilder::add_kernel_of_folder() {
  std::error_code error;
  const std::filesystem::path input(path_);
  const std::filesystem::path folder =
      (std::filesystem::is_directory(input, error) ? input : input.parent_path()) / "kcore_dir";
  for (const auto& [option, name] :
       {std::pair(&options_.kcore, "kcore"), std::pair(&options_.kallsyms, "kallsyms")}) {
    if (option->empty() && std::filesystem::is_regular_file(folder / name, error))
      *option = (folder / name).string();
  }
}

/// Files given for the kernel must be readable.
Result<void> CaptureBuilder::check_kernel(perf::ProgramFiles& programs) {
  for (const auto& [option, path] :
       {std::pair("--vmlinux", &options_.vmlinux), std::pair("--kcore", &options_.kcore),
        std::pair("--guest-vmlinux", &options_.guest_vmlinux)}) {
    if (path->empty()) continue;
    const auto file = MappedFile::open(*path);
    if (!file) return fail(file.error().code, fmt::format("{}: {}", option, file.error().detail));
    if (program::executable_parts(file->bytes()).empty()) {
      return fail(ErrorCode::kBadData,
                  fmt::format("{}: {} is not an ELF file with code.", option, *path));
    }
  }
  static_cast<void>(programs.kernel_names());
  static_cast<void>(programs.guest_names());
  for (const std::string& problem : programs.problems()) note(problem);
  return {};
}

/// Takes the code of the kernel as it was in memory, where the trace shows it.
void CaptureBuilder::resolve_kernel() {
  if (capture_.checking_tree_ == nullptr) return;
  ImageChecker checker(capture_, *capture_.checking_tree_);
  capture_.kernel_switches_ = resolve_switches(capture_, checker);
  const std::vector<KernelSwitch>& found = capture_.kernel_switches_;
  if (found.empty()) return;
  note(fmt::format(
      "{}: the kernel had changed its code in memory. {} of it {} set as the trace shows, such as "
      "{}; `waymark info` lists all. With perf record --kcore, nothing has to be guessed.",
      name_, counted(found.size(), "static key or alternative", "static keys and alternatives"),
      one_or(found.size(), "was", "were"), found.front().name));
}

/// From CPUs to the trace IDs of their units.
Result<void> CaptureBuilder::select_cpus() {
  if (options_.cpus.empty()) return {};
  if (!capture_.perf_) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: --cpu selects a CPU of a perf or simpleperf recording, and this "
                            "is not one; --id selects a trace ID.",
                            name_));
  }
  const std::vector<perf::Unit>& units = capture_.perf_->recording.units;
  std::vector<TraceId> ids;
  for (const std::uint32_t cpu : options_.cpus) {
    const perf::Unit* const unit = capture_.perf_->recording.unit_of_cpu(cpu);
    if (unit != nullptr && unit->trace_id) {
      ids.push_back(*unit->trace_id);
      continue;
    }
    std::string known;
    for (const perf::Unit& other : units)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", other.cpu);
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: CPU {} was not traced; use --cpu with one of: {}.", name_, cpu, known));
  }
  if (options_.ids.empty()) {
    options_.ids = std::move(ids);
    return {};
  }
  std::erase_if(options_.ids, [&](TraceId id) { return std::ranges::find(ids, id) == ids.end(); });
  if (!options_.ids.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: --id and --cpu have no trace unit in common.", name_));
}

/// The name of the core that is decoded for.
std::string CaptureBuilder::core_name_of(const perf::Unit& unit) const {
  if (!options_.core.empty()) return options_.core;
  return is_old(unit.kind) ? "ARMv7-A" : "ARMv8-A";
}

RegisterReader CaptureBuilder::registers_of(const perf::Unit& unit) const {
  return [this, &unit](std::string_view name) -> std::optional<RegisterValue> {
    if (name.ends_with("TRACEIDR")) return RegisterValue(*unit.trace_id);
    const auto given =
        std::ranges::find(options_.registers, name, &std::pair<std::string, std::uint32_t>::first);
    if (given != options_.registers.end()) return RegisterValue(given->second);
    const auto value = unit.reg(name);
    return value ? std::optional<RegisterValue>(*value) : std::nullopt;
  };
}

const ProtocolRow& CaptureBuilder::row_of(const perf::Unit& unit) {
  return *protocol_by_type(protocol_of(unit.kind));
}

Result<void> CaptureBuilder::add_perf_sources() {
  for (const perf::Unit& unit : capture_.perf_->recording.units) {
    if (!unit.trace_id) continue;
    const ProtocolRow& row = row_of(unit);
    const std::string core_name = core_name_of(unit);
    const auto core = isa::core_by_name(core_name);
    if (!core) return std::unexpected(core.error());
    WAYMARK_TRY(attach(row, registers_of(unit), *core,
                       {.id = *unit.trace_id,
                        .device = fmt::format("{}{}", device_of(unit.kind), unit.cpu),
                        .type = std::string(row.type),
                        .core = fmt::format("cpu{}", unit.cpu),
                        .core_type = core_name}));
  }
  return {};
}

}  // namespace waymark::inputs
