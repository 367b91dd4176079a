// Snapshots: the buffer, its sources, the memory of their cores.
#include <fmt/format.h>

#include <algorithm>

#include "capture_builder.h"
#include "waymark/image/address_text.h"
#include "waymark/inputs/detect.h"

namespace waymark::inputs {
namespace {

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

std::string join_names(const std::vector<TraceBuffer>& buffers) {
  std::string names;
  for (const TraceBuffer& buffer : buffers) {
    if (!names.empty()) names += ", ";
    names += buffer.name;
  }
  return names;
}

}  // namespace

Result<void> CaptureBuilder::read_snapshot_input() {
  auto snapshot = read_snapshot(path_, problems_);
  for (const Problem& problem : problems_) note(problem.text(), problem.severity);
  if (!snapshot) return std::unexpected(snapshot.error());
  capture_.snapshot_ = std::make_unique<Snapshot>(std::move(*snapshot));
  if (joins_buffers()) return join_buffers();
  WAYMARK_TRY(choose_buffer());
  capture_.framing_ =
      options_.framing.value_or(framing_of(buffer_format(capture_.buffer_->format)));
  WAYMARK_TRY(set_trace(MappedFile::open(capture_.snapshot_->path_of(capture_.buffer_->file))));
  if (!options_.framing && options_.source.quirks == 0) look_for_dstream();
  return {};
}

// Some tools write the format "dstream_coresight" for frames with syncs, with or without the
// footers of DSTREAM records.  Read as frames, each footer would be a loss of synchronisation.
void CaptureBuilder::look_for_dstream() {
  if (capture_.framing_ != Framing::kFsync) return;
  const Bytes bytes = capture_.trace_.bytes();
  const Detection found = detect(bytes.first(std::min(bytes.size(), kDetectWindow)));
  if (found.kind != InputKind::kDstreamFrames) return;
  capture_.framing_ = Framing::kDstream;
  note(fmt::format("{}: read as DSTREAM records (--framing dstream). {}", capture_.trace_.path(),
                   found.why),
       Severity::kInfo);
}

Result<void> CaptureBuilder::choose_buffer() {
  const Snapshot& snapshot = *capture_.snapshot_;
  if (snapshot.buffers.empty()) {
    return fail(ErrorCode::kNotFound,
                with_obstacles(fmt::format(
                    "{}: the snapshot describes no trace buffer; its trace ini needs "
                    "[trace_buffers] with buffers=NAME and a section [NAME] with name= and file=.",
                    path_)));
  }
  capture_.buffer_ = &snapshot.buffers.front();
  const bool only = snapshot.buffers.size() == 1 && options_.buffer == kAllBuffers;
  if (options_.buffer.empty() || only) {
    if (snapshot.buffers.size() > 1) {
      note(fmt::format("{}: {} trace buffers; this is {}. Choose with --buffer: {}, or all.", path_,
                       snapshot.buffers.size(), capture_.buffer_->name,
                       join_names(snapshot.buffers)),
           Severity::kInfo);
    }
    return {};
  }
  capture_.buffer_ = snapshot.find_buffer(options_.buffer);
  if (capture_.buffer_ != nullptr) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: there is no trace buffer \"{}\"; use --buffer with one of: {}, or "
                          "all.",
                          path_, options_.buffer, join_names(snapshot.buffers)));
}

Result<void> CaptureBuilder::check_register_names_of(
    const std::vector<const TraceBuffer*>& buffers) const {
  std::vector<std::string> types;
  for (const TraceBuffer* buffer : buffers) {
    for (const TraceSource& source : buffer->sources)
      if (std::ranges::find(types, source.type) == types.end()) types.push_back(source.type);
  }
  if (types.empty()) return {};
  return check_register_names(types);
}

Result<void> CaptureBuilder::add_snapshot_sources() {
  if (!alone_.empty()) return add_joined_sources();
  const TraceBuffer& buffer = *capture_.buffer_;
  // The registers of a part may be those of other buffers.
  if (!is_part_) WAYMARK_TRY(check_register_names_of({&buffer}));
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
  return fail(ErrorCode::kUnsupported, with_obstacles(std::move(detail)));
}

// With data trace on, an ETMv4 has a second stream, with the next trace ID.  No snapshot names it.
void CaptureBuilder::add_data_stream(const TraceSource& source) {
  const ProtocolRow* row = protocol_by_type(source.type);
  if (row == nullptr || row->protocol != Protocol::kEtmV4 || !capture_.tree_->formatted() ||
      source.device_index == TraceSource::kNoDevice) {
    return;
  }
  const RegisterReader registers = registers_of(capture_.snapshot_->devices[source.device_index]);
  const std::uint32_t id = (registers("TRCTRACEIDR").value_or(0) & 0x7F) + 1;
  if (!traces_data(registers) || !is_source_id(static_cast<TraceId>(id)) ||
      capture_.tree_->source(joined_id(static_cast<TraceId>(id))) != nullptr) {
    return;
  }
  const auto attached =
      attach(*protocol_by_type("ETM4D"),
             [&](std::string_view name) {
               return name == "TRCTRACEIDR" ? std::optional<RegisterValue>(id) : registers(name);
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
      skip(fmt::format("{}: type={}: {} Change it there, or name another core with --core.",
                       snapshot.path_of(snapshot.devices[source.core_index].file), source.core_type,
                       named.error().detail));
      return;
    }
    core = *named;
  }
  const RegisterReader registers = registers_of(device);
  for (const RegisterRule& rule : row->registers) {
    if (!rule.needed(registers, options_.source.decode) || registers(rule.name)) continue;
    const std::string where =
        row->where_registers.empty() ? std::string() : fmt::format(" ({})", row->where_registers);
    skip(fmt::format("{}: [regs] has no {}; add it there, or state it with --reg{}.", file,
                     rule.name, where));
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
  if (row->needs_core) add_dumps(snapshot.devices[source.core_index], capture_.sources_.back());
}

void CaptureBuilder::add_dumps(const Device& core, CaptureSource& source) {
  const Snapshot& snapshot = *capture_.snapshot_;
  for (const Dump& dump : core.dumps) {
    const std::string path = snapshot.path_of(dump.file);
    const image::FileRegion region{.address = dump.address,
                                   .offset = dump.length == 0 ? 0 : dump.offset,
                                   .length = dump.length};
    const auto space = image::space_by_name(dump.space);
    const std::string place = ini_place(snapshot.path_of(core.file), dump.line);
    const image::RegionInfo* given = given_image_at(dump);
    if (given != nullptr && (given->space & space.value_or(image::kSpaceAny)) != 0) {
      note(fmt::format(
          "{}: The memory dump {} is left out: it overlaps {} at {}, given on the "
          "command line.",
          place, path, given->name, image::address_range_text({given->first, given->last})));
      continue;
    }
    const auto added = capture_.image_->add_file(path, region, space.value_or(image::kSpaceAny));
    if (added) continue;
    const bool conflict = added.error().code == ErrorCode::kConflict;
    const Problem* known = problem_of_dump(core, dump);
    std::string text =
        known != nullptr ? known->text() : fmt::format("{}: {}", place, added.error().detail);
    if (!conflict && given == nullptr && source.image_fault.empty()) source.image_fault = text;
    if (known == nullptr) note(std::move(text));
  }
}

// A problem of a dump is reported once, in the words of the reader of the snapshot.
const Problem* CaptureBuilder::problem_of_dump(const Device& core, const Dump& dump) const {
  const std::string file = capture_.snapshot_->path_of(core.file);
  const std::string path = capture_.snapshot_->path_of(dump.file);
  const std::string address = fmt::format("0x{:x}", dump.address);
  const auto about = [&](const Problem& problem) {
    switch (problem.kind) {
      case ProblemKind::kDumpFileMissing:
      case ProblemKind::kDumpFileEmpty:
      case ProblemKind::kDumpFileShort:
      case ProblemKind::kDumpWraps:
        return problem.file == file && problem.line == dump.line;
      case ProblemKind::kDumpOverlap:
        return (problem.values[0] == path && problem.values[1] == address) ||
               (problem.values[2] == path && problem.values[3] == address);
      default:
        return false;
    }
  };
  const auto found = std::ranges::find_if(problems_, about);
  return found == problems_.end() ? nullptr : &*found;
}

const image::RegionInfo* CaptureBuilder::given_image_at(const Dump& dump) const {
  if (given_images_.empty()) return nullptr;
  std::uint64_t length = dump.length;
  if (const auto file = MappedFile::open(capture_.snapshot_->path_of(dump.file));
      file && length == 0) {
    length = file->size();
  }
  const std::uint64_t last = dump.address + std::max<std::uint64_t>(length, 1) - 1;
  const auto found = std::ranges::find_if(given_images_, [&](const image::RegionInfo& region) {
    return region.first <= last && region.last >= dump.address;
  });
  return found == given_images_.end() ? nullptr : &*found;
}

}  // namespace waymark::inputs
