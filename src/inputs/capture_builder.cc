#include "capture_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/etmv4/config.h"

namespace waymark::inputs {

bool traces_data(const RegisterReader& registers) {
  etmv4::Config config;
  config.trcidr0 = registers("TRCIDR0").value_or(0);
  config.trcconfigr = registers("TRCCONFIGR").value_or(0);
  return config.data_trace();
}

namespace {

/// FNV-1a over a text of all that the source was made of.
std::uint64_t config_hash(const ProtocolRow& row, const RegisterReader& registers,
                          const isa::Core& core, const SourceOptions& options) {
  std::string text(row.type);
  for (const RegisterRule& rule : row.registers) {
    if (const auto value = registers(rule.name)) text += fmt::format(" {}={:x}", rule.name, *value);
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

void CaptureBuilder::note(std::string text, Severity severity) {
  capture_.notes_.push_back({severity, std::move(text)});
}

std::string CaptureBuilder::with_obstacles(std::string sentence) const {
  for (const Note& note : capture_.notes_) {
    if (note.severity == Severity::kError) sentence += " " + note.text;
  }
  return sentence;
}

// Here, so that no file is blamed for it.
Result<void> CaptureBuilder::check_core() const {
  if (options_.core.empty()) return {};
  const auto core = isa::core_by_name(options_.core);
  if (core) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("--core: {}", core.error().detail));
}

Result<Capture> CaptureBuilder::build() {
  WAYMARK_TRY(check_core());
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
  if (!options_.ids.empty()) {
    if (capture_.tree_->formatted()) capture_.tree_->set_filter(options_.ids);
    std::erase_if(capture_.sources_, [&](const CaptureSource& source) {
      return std::ranges::find(options_.ids, source.id) == options_.ids.end();
    });
  }
  note_ids_without_source();
  return std::move(capture_);
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
  description.needs_image = row.needs_core;
  description.config_hash = config_hash(row, registers, core, source);
  if (row.version != nullptr) description.version = row.version(registers);
  WAYMARK_TRY(capture_.tree_->add(std::move(*made)));
  capture_.sources_.push_back(std::move(description));
  return {};
}

Result<void> CaptureBuilder::add_images() {
  for (const ImageFile& file : options_.images) {
    WAYMARK_TRY(capture_.image_->add_file(file.path, {.address = file.address}));
  }
  given_images_ = capture_.image_->regions();
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

}  // namespace waymark::inputs
