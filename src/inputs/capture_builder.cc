#include "capture_builder.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <system_error>

#include "perf_input.h"
#include "trace_feed.h"
#include "waymark/base/nearest.h"
#include "waymark/base/same_file.h"
#include "waymark/base/standard_streams.h"
#include "waymark/etmv4/config.h"
#include "waymark/inputs/memory_records.h"
#include "waymark/inputs/program_at.h"

namespace waymark::inputs {

bool traces_data(const RegisterReader& registers) {
  etmv4::Config config;
  config.trcidr0 = registers("TRCIDR0").value_or(0);
  config.trcconfigr = registers("TRCCONFIGR").value_or(0);
  return config.data_trace();
}

namespace {

/// FNV-1a over a text of everything that determines the source.
std::uint64_t config_hash(const ProtocolRow& row, const RegisterReader& registers,
                          const isa::Core& core, const SourceOptions& options) {
  std::string text(row.type);
  for (const RegisterRule& rule : row.registers) {
    if (const auto value = registers(rule.name))
      text += fmt::format(" {}={:x}", rule.name, value->value());
  }
  text += fmt::format(" core={}.{}", static_cast<unsigned>(core.arch),
                      static_cast<unsigned>(core.profile));
  if (options.starts_in_sync) text += " in-sync";
  if (options.least_nibble_first)
    text += *options.least_nibble_first ? " least-first" : " most-first";
  constexpr std::uint64_t kBasis = 0xCBF2'9CE4'8422'2325;
  constexpr std::uint64_t kPrime = 0x0000'0100'0000'01B3;
  std::uint64_t hash = kBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace

void CaptureBuilder::note(Note note) {
  // Findings in a single buffer are found again in the joined trace.
  if (!alone_.empty() &&
      std::ranges::find(capture_.notes_, note.text, &Note::text) != capture_.notes_.end())
    return;
  capture_.notes_.push_back(std::move(note));
}

void CaptureBuilder::note(std::string text, Severity severity) {
  note(Note{.severity = severity, .text = std::move(text)});
}

void CaptureBuilder::note_loss(std::string text) {
  note(Note{.text = std::move(text), .loss = true});
}

std::string CaptureBuilder::with_obstacles(std::string sentence) const {
  for (const Note& note : capture_.notes_) {
    if (note.severity == Severity::kError) sentence += " " + note.text;
  }
  return sentence;
}

// Checked here, so that the error does not name a file.
Result<void> CaptureBuilder::check_core() const {
  if (options_.core.empty()) return {};
  const auto core = isa::core_by_name(options_.core);
  if (core) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("--core: {}", core.error().detail));
}

Result<Capture> CaptureBuilder::build() {
  WAYMARK_TRY(check_core());
  auto detection = detect_input();
  if (detection && is_memory_text(detection->kind)) detection = read_memory_text(detection->kind);
  if (detection && detection->kind == InputKind::kLogicSession) detection = read_logic_session();
  if (!detection) return std::unexpected(detection.error());
  if (!options_.register_text.empty()) WAYMARK_TRY(read_register_text());
  capture_.kind_ = detection->kind;
  capture_.image_ = options_.image != nullptr ? options_.image : std::make_shared<image::Image>();
  const bool snapshot =
      detection->kind == InputKind::kSnapshotFolder || detection->kind == InputKind::kSnapshotIni;
  const bool perf = detection->kind == InputKind::kPerfData;
  WAYMARK_TRY(perf       ? read_perf_input()
              : snapshot ? read_snapshot_input()
                         : read_raw_input(*detection));
  // The memory of a recording is that of its processes.
  if (!perf) WAYMARK_TRY(add_images());
  if (perf) capture_.image_->set_selector(capture_.perf_->processes.get());
  WAYMARK_TRY(count_id_bytes());
  note_lost_tail();
  capture_.tree_ = std::make_unique<DecodeTree>(frame_options(capture_.framing_));
  // The code of a kernel is compared with the trace even if this was not requested.
  if (options_.check_image || (perf && options_.source.decode))
    capture_.checking_tree_ = std::make_unique<DecodeTree>(frame_options(capture_.framing_));
  WAYMARK_TRY(perf ? add_perf_sources() : snapshot ? add_snapshot_sources() : add_raw_sources());
  WAYMARK_TRY(select_cpus());
  WAYMARK_TRY(check_ids());
  if (!options_.ids.empty()) {
    if (capture_.tree_->formatted()) {
      capture_.tree_->set_filter(options_.ids);
      if (capture_.checking_tree_ != nullptr) capture_.checking_tree_->set_filter(options_.ids);
    }
    std::erase_if(capture_.sources_, [&](const CaptureSource& source) {
      return std::ranges::find(options_.ids, source.id) == options_.ids.end();
    });
  }
  note_ids_without_source();
  if (perf) resolve_kernel();
  if (!options_.check_image) capture_.checking_tree_.reset();
  if (!perf && !snapshot) WAYMARK_TRY(set_feed());
  return std::move(capture_);
}

/// The bytes that a live source has sent so far, for the functions that look at the beginning of a
/// trace.
Result<MappedFile> CaptureBuilder::head_as_file() const {
  const Bytes head = options_.live->bytes();
  const int descriptor = ::memfd_create("waymark-head", MFD_CLOEXEC);
  if (descriptor < 0)
    return fail(ErrorCode::kIo, fmt::format("Cannot keep the beginning of {}: {}.", name_,
                                            std::generic_category().message(errno)));
  const int number =
      write_all(descriptor, {reinterpret_cast<const char*>(head.data()), head.size()});
  auto file = MappedFile::map(descriptor, name_);
  ::close(descriptor);
  if (number == 0) return file;
  return fail(ErrorCode::kIo, fmt::format("Cannot keep the beginning of {}: {}.", name_,
                                          std::generic_category().message(number)));
}

/// Afterwards, raw trace is open.
Result<Detection> CaptureBuilder::detect_input() {
  std::error_code error;
  if (options_.live != nullptr) {
    auto head = head_as_file();
    if (!head) return std::unexpected(std::move(head).error());
    capture_.trace_ = *std::move(head);
    return detect(capture_.trace_.bytes());
  }
  if (std::filesystem::is_directory(path_, error)) return detect(path_);
  auto file = options_.open_file ? options_.open_file(path_) : MappedFile::open(path_);
  if (!file) return std::unexpected(std::move(file).error());
  capture_.trace_ = std::move(*file);
  return detect(capture_.trace_);
}

/// From here on, the capture reads more than what detection saw, or sees the marks of a recording.
Result<void> CaptureBuilder::set_feed() {
  if (options_.live != nullptr) {
    capture_.reading_.feed = std::make_unique<TraceFeed>(options_.live, capture_.framing_);
    return {};
  }
  if (capture_.kind_ == InputKind::kDebuggerText || capture_.kind_ == InputKind::kMtbRecords)
    return {};
  auto marks = live::Marks::open(path_);
  if (!marks) return std::unexpected(marks.error());
  if (!*marks) return {};
  auto playback =
      std::make_shared<live::Playback>(name_, capture_.trace_.bytes(), **std::move(marks));
  capture_.reading_.feed = std::make_unique<TraceFeed>(std::move(playback), capture_.framing_);
  return {};
}

Result<void> CaptureBuilder::go_on() const {
  if (!options_.stop || !options_.stop()) return {};
  return fail(ErrorCode::kIo, fmt::format("Reading {} was interrupted.", name_));
}

Result<void> CaptureBuilder::set_trace(Result<MappedFile> file) {
  if (!file) return std::unexpected(std::move(file).error());
  if (file->size() == 0) {
    return fail(ErrorCode::kBadData,
                fmt::format("{} is empty: nothing was captured. Check that the trace source was "
                            "enabled and the sink was read after it stopped.",
                            file->path()));
  }
  capture_.trace_ = std::move(*file);
  return {};
}

Result<void> CaptureBuilder::check_framing(const ProtocolRow& row) const {
  if (row.framed || capture_.framing_ == Framing::kNone) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: the trace of {} never has frames, but this input is read as {} "
                          "frames; use --framing none.",
                          name_, row.type, framing_name(capture_.framing_)));
}

Result<void> CaptureBuilder::attach(const ProtocolRow& row, const RegisterReader& own,
                                    isa::Core core, CaptureSource description) {
  const RegisterReader registers = joined_registers(own);
  WAYMARK_TRY(check_framing(row));
  if (row.protocol == Protocol::kItm) WAYMARK_TRY(look_for_itm_sync());
  if (row.protocol == Protocol::kMtb) WAYMARK_TRY(read_records(registers));
  SourceOptions source = options_.source;
  if (joining_ != nullptr) {
    description.buffer = joining_->buffer->name;
    const CaptureSource* const alone = joining_->source_of(description.device);
    if (alone != nullptr) source.starts_in_sync = alone->starts_in_sync;
  }
  if (row.protocol == Protocol::kStm && !source.least_nibble_first) {
    const std::uint32_t control = registers("STMTCSR").value_or(0);
    const auto order = look_for_nibble_order(static_cast<TraceId>(control >> 16 & 0x7F));
    if (!order) return std::unexpected(order.error());
    source.least_nibble_first = *order;
  }
  auto made = row.make(registers, core, capture_.image_.get(), source);
  if (!made) return std::unexpected(made.error());
  if (capture_.checking_tree_ != nullptr && row.needs_core) {
    source.decode = true;
    source.flags = kReportLostAtoms;
    auto checking = row.make(registers, core, capture_.image_.get(), source);
    if (!checking) return std::unexpected(checking.error());
    WAYMARK_TRY(capture_.checking_tree_->add(std::move(*checking)));
  }
  description.source = made->get();
  description.starts_in_sync = source.starts_in_sync;
  description.id = (*made)->trace_id();
  description.profile = core.profile;
  description.needs_image = row.needs_core;
  description.config_hash = config_hash(row, registers, core, source);
  if (row.version != nullptr) description.version = row.version(registers);
  WAYMARK_TRY(capture_.tree_->add(std::move(*made)));
  capture_.sources_.push_back(std::move(description));
  return {};
}

Result<void> CaptureBuilder::add_images() {
  for (const ImageFile& file : options_.images) {
    const auto program = program_at(file.address, file.path);
    if (!program) return std::unexpected(program.error());
    if (*program) {
      WAYMARK_TRY(add_program((*program)->program, file.space));
      note((*program)->note, Severity::kInfo);
      continue;
    }
    const auto records = records_at(file.address, file.path);
    if (!records)
      return fail(records.error().code, fmt::format("--image: {}", records.error().detail));
    if (*records) {
      for (const MemoryBlock& block : (*records)->blocks)
        WAYMARK_TRY(capture_.image_->add_buffer(block.address, block.bytes, file.space, file.path));
      if (!(*records)->ended) note_no_end_record(file.path);
      continue;
    }
    if (!file.address)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--image {0}: the file does not say where it is in memory; give "
                              "--image ADDRESS={0}.",
                              file.path));
    WAYMARK_TRY(capture_.image_->add_file(file.path, {.address = *file.address}, file.space));
  }
  std::map<std::uint64_t, std::vector<std::string>> known;  // By bias.
  for (const ProgramFile& file : options_.programs) {
    // The same program twice is no more than once.
    std::vector<std::string>& same_bias = known[file.bias];
    if (find_same_file(file.path, same_bias) != nullptr) continue;
    same_bias.push_back(file.path);
    const auto program = elf::File::open(file.path, file.bias);
    if (!program) return std::unexpected(program.error());
    if (auto added = add_program(*program); !added) {
      if (added.error().code == ErrorCode::kConflict) {
        added.error().detail +=
            " Append @ and its load address to a program that was loaded elsewhere, or leave one "
            "out.";
      }
      return added;
    }
  }
  given_images_ = capture_.image_->regions();
  return {};
}

Result<void> CaptureBuilder::add_program(const elf::File& program, image::SpaceMask space) {
  if (program.segments().empty()) {
    return fail(ErrorCode::kBadData,
                fmt::format("'{}' has no segment to load: it is an object file, or was stripped of "
                            "its program headers. Link it, and give the program.",
                            program.path()));
  }
  for (const elf::Segment& segment : program.segments()) {
    WAYMARK_TRY(capture_.image_->add_file(
        program.path(),
        {.address = segment.address, .offset = segment.offset, .length = segment.size}, space));
  }
  return {};
}

Result<void> CaptureBuilder::check_register_names(const std::vector<std::string>& types) const {
  std::vector<std::string_view> known;
  for (const std::string& type : types) {
    const ProtocolRow* row = protocol_by_type(type);
    if (row == nullptr) continue;
    for (const RegisterRule& rule : row->registers) known.push_back(rule.name);
    known.insert(known.end(), row->other_registers.begin(), row->other_registers.end());
  }
  for (const std::string& name : register_names_) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto meant = nearest(name, known);
    std::string detail = fmt::format("--reg {}: decoding {} has no register of this name", name,
                                     fmt::join(types, " or "));
    if (meant) {
      detail += fmt::format("; did you mean {}?", *meant);
    } else {
      std::ranges::sort(known);
      const auto same = std::ranges::unique(known);
      known.erase(same.begin(), same.end());
      detail += fmt::format("; it uses {}.", fmt::join(known, ", "));
    }
    return fail(ErrorCode::kInvalidArgument, std::move(detail));
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
                            name_, id, known));
  }
  return {};
}

}  // namespace waymark::inputs
