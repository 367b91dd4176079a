#include "capture_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "detect_itm.h"
#include "waymark/etmv4/config.h"
#include "waymark/frames/splitter.h"
#include "waymark/stm/nibble_order.h"

namespace waymark::inputs {
namespace {

/// Where a user finds the registers of a trace unit.
constexpr std::string_view kWhereRegisters =
    "on Linux they stand in /sys/bus/coresight/devices/etm0/mgmt/";

Framing framing_of(BufferFormat format) {
  switch (format) {
    case BufferFormat::kSingleSource:
      return Framing::kNone;
    case BufferFormat::kFsyncFrames:
      return Framing::kFsync;
    case BufferFormat::kMemoryAligned:
      break;
  }
  return Framing::kMemoryAligned;
}

std::optional<Framing> framing_of(InputKind kind) {
  switch (kind) {
    case InputKind::kAlignedFrames:
      return Framing::kMemoryAligned;
    case InputKind::kTpiuFrames:
      return Framing::kFsync;
    case InputKind::kDstreamFrames:
      return Framing::kDstream;
    case InputKind::kEtmv4Stream:
    case InputKind::kItmStream:
    case InputKind::kPtmStream:
    case InputKind::kStmStream:
      return Framing::kNone;
    default:
      return std::nullopt;
  }
}

/// The lowest bit of the trace ID in a register that holds it; nothing for the others.
std::optional<unsigned> id_bit(std::string_view register_name) {
  if (register_name.ends_with("TRACEIDR")) return 0;
  if (register_name == "ITMTCR" || register_name == "STMTCSR") return 16;
  return std::nullopt;
}

bool traces_data(const RegisterReader& registers) {
  etmv4::Config config;
  config.trcidr0 = registers("TRCIDR0").value_or(0);
  config.trcconfigr = registers("TRCCONFIGR").value_or(0);
  return config.data_trace();
}

std::string join_names(const std::vector<TraceBuffer>& buffers) {
  std::string names;
  for (const TraceBuffer& buffer : buffers) {
    if (!names.empty()) names += ", ";
    names += buffer.name;
  }
  return names;
}

}  // namespace

void CaptureBuilder::note(std::string text, Severity severity) {
  capture_.notes_.push_back({severity, std::move(text)});
}

Result<Capture> CaptureBuilder::build() {
  const auto detection = detect(path_);
  if (!detection) return std::unexpected(detection.error());
  capture_.kind_ = detection->kind;
  capture_.image_ = std::make_unique<image::Image>();
  const bool snapshot =
      detection->kind == InputKind::kSnapshotFolder || detection->kind == InputKind::kSnapshotIni;
  WAYMARK_TRY(snapshot ? read_snapshot_input() : read_raw_input(*detection));
  WAYMARK_TRY(add_images());
  count_id_bytes();
  note_lost_tail();
  capture_.tree_ = std::make_unique<DecodeTree>(frame_options(capture_.framing_));
  WAYMARK_TRY(snapshot ? add_snapshot_sources() : add_raw_sources());
  WAYMARK_TRY(check_ids());
  if (!options_.ids.empty() && capture_.tree_->formatted()) {
    capture_.tree_->set_filter(options_.ids);
  }
  note_ids_without_source();
  return std::move(capture_);
}

Result<void> CaptureBuilder::read_snapshot_input() {
  std::vector<Problem> problems;
  auto snapshot = read_snapshot(path_, problems);
  for (const Problem& problem : problems) note(problem.text(), problem.severity);
  if (!snapshot) return std::unexpected(snapshot.error());
  capture_.snapshot_ = std::make_unique<Snapshot>(std::move(*snapshot));
  WAYMARK_TRY(choose_buffer());
  capture_.framing_ =
      options_.framing.value_or(framing_of(buffer_format(capture_.buffer_->format)));
  return open_trace(capture_.snapshot_->path_of(capture_.buffer_->file));
}

Result<void> CaptureBuilder::choose_buffer() {
  const Snapshot& snapshot = *capture_.snapshot_;
  if (snapshot.buffers.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: the snapshot describes no trace buffer; its trace ini needs "
                            "[trace_buffers] with buffers=NAME and a section [NAME] with name= "
                            "and file=.",
                            path_));
  }
  capture_.buffer_ = &snapshot.buffers.front();
  if (options_.buffer.empty()) {
    if (snapshot.buffers.size() > 1) {
      note(fmt::format("{}: {} trace buffers; this is {}. Choose with --buffer: {}.", path_,
                       snapshot.buffers.size(), capture_.buffer_->name,
                       join_names(snapshot.buffers)),
           Severity::kInfo);
    }
    return {};
  }
  capture_.buffer_ = snapshot.find_buffer(options_.buffer);
  if (capture_.buffer_ != nullptr) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: there is no trace buffer \"{}\"; use --buffer with one of: {}.",
                          path_, options_.buffer, join_names(snapshot.buffers)));
}

Result<void> CaptureBuilder::open_trace(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (file->size() == 0) {
    return fail(ErrorCode::kBadData,
                fmt::format("{} is empty: nothing was captured. Check that the trace source was "
                            "enabled and the sink was read after it stopped.",
                            path));
  }
  capture_.trace_ = std::move(*file);
  return {};
}

Result<void> CaptureBuilder::read_raw_input(const Detection& detection) {
  switch (detection.kind) {
    case InputKind::kPerfData:
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} is a perf.data file, which cannot be read yet; give the snapshot "
                              "or the raw trace instead.",
                              path_));
    case InputKind::kElf:
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is a program image and no trace; give the trace as INPUT and "
                              "the image as --image ADDRESS=FILE.",
                              path_));
    case InputKind::kTraceScript:
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{0} is a trace script; run `waymark assemble {0} -o DIR` and give "
                              "DIR.",
                              path_));
    case InputKind::kPtmStream:
      if (!options_.protocol.empty()) break;
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: this is a PTM stream by its looks, but raw trace does not say how "
                      "it was made; add --protocol ptm and --reg ETMIDR=VALUE --reg "
                      "ETMCR=VALUE --reg ETMCCER=VALUE.",
                      path_));
    default:
      break;
  }
  WAYMARK_TRY(open_trace(path_));
  const auto framing = options_.framing ? options_.framing : framing_of(detection.kind);
  if (!framing) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} {} Say how it is framed with --framing mem, fsync, hsync, dstream "
                            "or none.",
                            path_.empty() ? std::string("INPUT:") : path_ + ":", detection.why));
  }
  capture_.framing_ = *framing;
  return {};
}

Result<void> CaptureBuilder::check_raw_registers(const ProtocolRow& row) const {
  std::string missing;
  for (const RegisterRule& rule : row.registers) {
    // The ID of framed sources stands in the frames.
    if (!rule.mandatory || id_bit(rule.name)) continue;
    const bool given = std::ranges::any_of(
        options_.registers, [&](const auto& value) { return value.first == rule.name; });
    if (!given) missing += fmt::format(" --reg {}=VALUE", rule.name);
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: raw trace does not say how it was made; add{} ({}).", path_, missing,
                          kWhereRegisters));
}

Result<void> CaptureBuilder::add_raw_sources() {
  if (options_.protocol.empty() && capture_.kind_ == InputKind::kItmStream) {
    options_.protocol = "itm";
  } else if (options_.protocol.empty() && capture_.kind_ == InputKind::kStmStream) {
    options_.protocol = "stm";
  }
  if (options_.protocol.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "{}: raw trace does not say how it was made; add --protocol itm or stm, or "
            "--protocol etmv4 (or ete) and --reg TRCCONFIGR=VALUE --reg TRCIDR0=VALUE --reg "
            "TRCIDR2=VALUE ({}).",
            path_, kWhereRegisters));
  }
  const ProtocolRow* row = protocol_by_name(options_.protocol);
  if (row == nullptr || row->make == nullptr) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: no decoder for the protocol \"{}\"; use --protocol etmv4, ete, "
                            "ptm, etmv3, stm or itm.",
                            path_, options_.protocol));
  }
  WAYMARK_TRY(check_raw_registers(*row));
  const std::string core_name = options_.core.empty() ? "ARMv8-A" : options_.core;
  const auto core = isa::core_by_name(core_name);
  if (!core) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" is no core that is known; use --core with a name such as "
                            "Cortex-A53 or ARMv8-A.",
                            core_name));
  }

  std::vector<TraceId> ids = options_.ids;
  if (capture_.framing_ == Framing::kNone) {
    ids.assign(1, 0);
  } else if (ids.empty()) {
    for (TraceId id = 1; id < 0x70; ++id) {
      if (capture_.id_bytes_[id] != 0) ids.push_back(id);
    }
  }
  if (ids.empty()) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: no frame names a trace ID; perhaps --framing {} is wrong.", path_,
                            framing_name(capture_.framing_)));
  }
  for (const TraceId id : ids) {
    const auto registers = [&](std::string_view name) -> std::optional<std::uint32_t> {
      const auto found = std::ranges::find(options_.registers, name,
                                           &std::pair<std::string, std::uint32_t>::first);
      const bool given = found != options_.registers.end();
      if (const auto bit = id_bit(name); bit && capture_.framing_ != Framing::kNone) {
        const std::uint32_t others = given ? found->second & ~(0x7FU << *bit) : 0;
        return others | std::uint32_t{id} << *bit;
      }
      if (!given) return std::nullopt;
      return found->second;
    };
    // The instruction stream has an even ID then, and the data stream the next one.
    const bool data = row->protocol == Protocol::kEtmV4 && id % 2 == 1 && traces_data(registers) &&
                      std::ranges::find(ids, id - 1) != ids.end();
    const ProtocolRow& used = data ? *protocol_by_type("ETM4D") : *row;
    WAYMARK_TRY(attach(used, registers, *core,
                       {.id = id,
                        .type = std::string(used.type),
                        .core_type = used.needs_core ? core_name : std::string()}));
  }
  return {};
}

Result<void> CaptureBuilder::attach(const ProtocolRow& row, const RegisterReader& registers,
                                    isa::Core core, CaptureSource description) {
  if (row.protocol == Protocol::kItm) look_for_itm_sync();
  SourceOptions source = options_.source;
  if (row.protocol == Protocol::kStm && !source.least_nibble_first) {
    const std::uint32_t control = registers("STMTCSR").value_or(0);
    source.least_nibble_first = look_for_nibble_order(static_cast<TraceId>(control >> 16 & 0x7F));
  }
  auto made = row.make(registers, core, capture_.image_.get(), source);
  if (!made) return std::unexpected(made.error());
  description.source = made->get();
  description.starts_in_sync = options_.source.starts_in_sync;
  description.id = (*made)->trace_id();
  description.profile = core.profile;
  if (row.version != nullptr) description.version = row.version(registers);
  WAYMARK_TRY(capture_.tree_->add(std::move(*made)));
  capture_.sources_.push_back(std::move(description));
  return {};
}

// A stream without any would give nothing; many probes capture SWO so.
void CaptureBuilder::look_for_itm_sync() {
  if (capture_.framing_ != Framing::kNone || options_.source.starts_in_sync ||
      find_itm_sync(capture_.trace_.bytes())) {
    return;
  }
  options_.source.starts_in_sync = true;
  note(fmt::format("{}: there is no synchronisation packet (SYNCENA of ITM_TCR), so the first byte "
                   "is taken for the first of a packet.",
                   capture_.trace_.path()),
       Severity::kInfo);
}

// Before the first packet is read: what a stream shows later does not mend what was read before.
std::optional<bool> CaptureBuilder::look_for_nibble_order(TraceId id) {
  const bool framed = capture_.framing_ != Framing::kNone;
  const auto order =
      framed ? order_in_frames(id) : stm::detect_nibble_order(capture_.trace_.bytes());
  if (!order) return std::nullopt;
  const bool least_first = *order == stm::NibbleOrder::kLeastFirst;
  if (least_first) {
    const std::string of_id = framed ? fmt::format(" of trace ID 0x{:02x}", id) : std::string();
    note(fmt::format("{}: fields{} begin with the least significant nibble, as MIPI's simulator "
                     "and Zephyr write them and hardware does not (--nibble-order).",
                     capture_.trace_.path(), of_id),
         Severity::kInfo);
  }
  return least_first;
}

std::optional<stm::NibbleOrder> CaptureBuilder::order_in_frames(TraceId id) {
  const auto options = frame_options(capture_.framing_);
  if (!options || !is_source_id(id)) return std::nullopt;
  frames::StreamSplitter splitter(*options, frames::IdSet().set(id));
  stm::OrderSearch search;
  bool found = false;
  while (const auto block = found ? std::nullopt : capture_.next_block()) {
    if (!splitter.feed(block->index, block->bytes)) break;
    frames::Step step{};
    do {
      step = splitter.step();
      if (step == frames::Step::kError) splitter.resync();
      found = search.look(splitter.stream(id).block());
      splitter.stream(id).clear();
    } while (step != frames::Step::kNeedInput && !found);
  }
  capture_.position_ = 0;
  capture_.records_.reset();
  return search.order();
}

Result<void> CaptureBuilder::add_snapshot_sources() {
  const TraceBuffer& buffer = *capture_.buffer_;
  for (const TraceSource& source : buffer.sources) {
    add_snapshot_source(source);
    if (!capture_.tree_->formatted() && !capture_.sources_.empty()) break;
  }
  for (const TraceSource& source : buffer.sources) add_data_stream(source);
  if (!capture_.sources_.empty()) return {};
  std::string detail =
      buffer.sources.empty()
          ? fmt::format("{}: [source_buffers] names no source for {}.", path_, buffer.name)
          : fmt::format("{}: none of the {} sources of {} can be decoded.", path_,
                        buffer.sources.size(), buffer.name);
  // What stands in the way was noted while the sources were looked at.
  for (const Note& note : capture_.notes_) {
    if (note.severity == Severity::kError) detail += " " + note.text;
  }
  return fail(ErrorCode::kUnsupported, std::move(detail));
}

// With data trace on, an ETMv4 has a second stream, under the next trace ID.  No snapshot names it.
void CaptureBuilder::add_data_stream(const TraceSource& source) {
  const ProtocolRow* row = protocol_by_type(source.type);
  if (row == nullptr || row->protocol != Protocol::kEtmV4 || !capture_.tree_->formatted() ||
      source.device_index == TraceSource::kNoDevice) {
    return;
  }
  const RegisterReader registers = registers_of(capture_.snapshot_->devices[source.device_index]);
  const std::uint32_t id = (registers("TRCTRACEIDR").value_or(0) & 0x7F) + 1;
  if (!traces_data(registers) || !is_source_id(static_cast<TraceId>(id)) ||
      capture_.tree_->source(static_cast<TraceId>(id)) != nullptr) {
    return;
  }
  const auto attached =
      attach(*protocol_by_type("ETM4D"),
             [&](std::string_view name) {
               return name == "TRCTRACEIDR" ? std::optional(id) : registers(name);
             },
             {}, {.device = source.device + " data", .type = "ETM4D", .core = source.core});
  if (!attached) note(attached.error().detail);
}

RegisterReader CaptureBuilder::registers_of(const Device& device) const {
  return [this, &device](std::string_view name) -> std::optional<std::uint32_t> {
    const auto given =
        std::ranges::find(options_.registers, name, &std::pair<std::string, std::uint32_t>::first);
    if (given != options_.registers.end()) return given->second;
    return device.value(name);
  };
}

void CaptureBuilder::add_snapshot_source(const TraceSource& source) {
  const Snapshot& snapshot = *capture_.snapshot_;
  const auto skip = [&](std::string_view why) {
    note(fmt::format("Source {} is left out: {}", source.device, why), Severity::kError);
  };
  if (source.device_index == TraceSource::kNoDevice) {
    skip("no device ini file has this name.");
    return;
  }
  const Device& device = snapshot.devices[source.device_index];
  const std::string file = snapshot.path_of(device.file);
  const ProtocolRow* row = protocol_by_type(source.type);
  if (row == nullptr || row->make == nullptr) {
    skip(fmt::format("{}: no decoder for the type \"{}\" yet.", file, source.type));
    return;
  }
  isa::Core core;
  if (row->needs_core) {
    if (source.core_index == TraceSource::kNoDevice) {
      skip(source.core.empty()
               ? std::string("[core_trace_sources] of the trace ini names no core for it.")
               : fmt::format("its core {} has no device ini file.", source.core));
      return;
    }
    const auto named = isa::core_by_name(options_.core.empty() ? source.core_type : options_.core);
    if (!named) {
      skip(fmt::format(
          "{}: the core type \"{}\" is not known; write type=ARMv8-A or the like, or "
          "add --core ARMv8-A.",
          snapshot.path_of(snapshot.devices[source.core_index].file), source.core_type));
      return;
    }
    core = *named;
  }
  const RegisterReader registers = registers_of(device);
  for (const RegisterRule& rule : row->registers) {
    if (!rule.mandatory || registers(rule.name)) continue;
    skip(fmt::format("{}: [regs] has no {}; add it there, or add --reg {}=VALUE.", file, rule.name,
                     rule.name));
    return;
  }
  const auto attached =
      attach(*row, registers, core,
             {.device = source.device,
              .type = source.type,
              .core = source.core,
              .core_type = options_.core.empty() ? source.core_type : options_.core});
  if (!attached) {
    skip(fmt::format("{}: {}", file, attached.error().detail));
    return;
  }
  if (row->needs_core) add_dumps(snapshot.devices[source.core_index]);
}

void CaptureBuilder::add_dumps(const Device& core) {
  const Snapshot& snapshot = *capture_.snapshot_;
  for (const Dump& dump : core.dumps) {
    const image::FileRegion region{.address = dump.address,
                                   .offset = dump.length == 0 ? 0 : dump.offset,
                                   .length = dump.length};
    const auto space = image::space_by_name(dump.space);
    const auto added = capture_.image_->add_file(snapshot.path_of(dump.file), region,
                                                 space.value_or(image::kSpaceAny));
    // The reader of the snapshot has told of missing and of short files already.
    if (added || added.error().code == ErrorCode::kNotFound) continue;
    note(fmt::format("{}:{}: {}", snapshot.path_of(core.file), dump.line, added.error().detail));
  }
}

Result<void> CaptureBuilder::add_images() {
  for (const ImageFile& file : options_.images) {
    WAYMARK_TRY(capture_.image_->add_file(file.path, {.address = file.address}));
  }
  return {};
}

Result<void> CaptureBuilder::check_ids() const {
  for (const TraceId id : options_.ids) {
    if (std::ranges::find(capture_.sources_, id, &CaptureSource::id) != capture_.sources_.end()) {
      continue;
    }
    std::string known;
    for (const CaptureSource& source : capture_.sources_) {
      if (!known.empty()) known += ", ";
      known += fmt::format("0x{:02x}", source.id);
    }
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: no source has the trace ID 0x{:02x}; use --id with one of: {}.",
                            path_, id, known));
  }
  return {};
}

void CaptureBuilder::count_id_bytes() {
  const auto options = frame_options(capture_.framing_);
  if (!options) return;
  frames::Demux demux(*options);
  while (const auto block = capture_.next_block()) {
    if (!demux.feed(block->index, block->bytes)) break;
    for (frames::Step step = demux.step(); step != frames::Step::kNeedInput; step = demux.step()) {
      if (step == frames::Step::kError) demux.resync();
      if (step != frames::Step::kFrame) continue;
      for (const frames::Segment& segment : demux.frame().view()) {
        if (segment.id < kTraceIdCount) capture_.id_bytes_[segment.id] += segment.size;
      }
    }
  }
  capture_.position_ = 0;
  capture_.records_.reset();
}

void CaptureBuilder::note_lost_tail() {
  const auto options = frame_options(capture_.framing_);
  if (!options || capture_.framing_ == Framing::kDstream) return;
  const std::size_t rest = capture_.trace_.size() % options->alignment();
  if (rest == 0) return;
  note(
      fmt::format("{}: {} bytes are no multiple of {}; the last {} are ignored. If the trace has "
                  "no frames, use --framing none.",
                  capture_.trace_.path(), capture_.trace_.size(), options->alignment(), rest));
}

void CaptureBuilder::note_ids_without_source() {
  if (!capture_.tree_->formatted()) return;
  std::vector<TraceId> ids;
  std::size_t bytes = 0;
  for (TraceId id = 1; id < 0x70; ++id) {
    if (capture_.id_bytes_[id] == 0 || capture_.tree_->source(id) != nullptr) continue;
    ids.push_back(id);
    bytes += capture_.id_bytes_[id];
  }
  constexpr std::size_t kMaxNotes = 8;  // A system with more sources is rarer than damage.
  if (ids.size() > kMaxNotes) {
    note(
        fmt::format("{} trace IDs from 0x{:02x} to 0x{:02x} have {} bytes together but no source "
                    "that can be decoded; so many mean that part of the trace is damaged or was "
                    "never written.",
                    ids.size(), ids.front(), ids.back(), bytes));
    return;
  }
  for (const TraceId id : ids) {
    note(fmt::format("Trace ID 0x{:02x} has {} bytes but no source that can be decoded; {}.", id,
                     capture_.id_bytes_[id],
                     capture_.snapshot_ == nullptr
                         ? "see --id"
                         : "a device ini file with this ID in its TRACEIDR register is needed"));
  }
}

}  // namespace waymark::inputs
