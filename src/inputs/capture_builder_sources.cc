// Sources of raw trace that the command line describes, and the frames that they are in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "capture_builder.h"
#include "temporary_file.h"
#include "waymark/base/nearest.h"
#include "waymark/base/plural.h"
#include "waymark/frames/aligner.h"

namespace waymark::inputs {
namespace {

/// As the user wrote it, up to the registers.
std::string option_of(const RawSource& source) {
  return source.id ? fmt::format("--source 0x{:02x}={}", *source.id, source.protocol)
                   : fmt::format("--source {}", source.protocol);
}

std::optional<std::uint32_t> given_value(
    const std::vector<std::pair<std::string, std::uint32_t>>& registers, std::string_view name) {
  const auto found =
      std::ranges::find(registers, name, &std::pair<std::string, std::uint32_t>::first);
  if (found == registers.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Result<void> CaptureBuilder::check_given_source(const RawSource& source) const {
  const std::string option = option_of(source);
  const bool framed = capture_.framing_ != Framing::kNone;
  if (framed && !source.id)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: the trace is in frames (--framing {}), so state the trace ID: "
                            "--source ID={}.",
                            option, framing_name(capture_.framing_), source.protocol));
  if (!framed && options_.sources.size() > 1)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: a trace without frames has only one source; leave the others out, "
                            "or state the framing with --framing.",
                            option));
  const ProtocolRow* const row = protocol_by_name(source.protocol);
  if (row == nullptr || row->make == nullptr) {
    constexpr std::string_view kNames[] = {"etmv4", "ete", "ptm", "etmv3",
                                           "stm",   "itm", "mtb", "etmv4d"};
    const auto meant = nearest(source.protocol, kNames);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: there is no decoder for this protocol; {}", option,
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : fmt::format("use {}.", fmt::join(kNames, ", "))));
  }
  std::vector<std::string_view> known;
  for (const RegisterRule& rule : row->registers) known.push_back(rule.name);
  known.insert(known.end(), row->other_registers.begin(), row->other_registers.end());
  for (const auto& [name, value] : source.registers) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto meant = nearest(name, known);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: its decoder uses no register {}; {}", option, name,
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : fmt::format("it uses {}.", fmt::join(known, ", "))));
  }
  return {};
}

Result<void> CaptureBuilder::add_given_source(const RawSource& source) {
  WAYMARK_TRY(check_given_source(source));
  const ProtocolRow& row = *protocol_by_name(source.protocol);
  const RegisterReader given = [&](std::string_view name) -> std::optional<RegisterValue> {
    const auto own = given_value(source.registers, name);
    const auto value = own ? own : given_value(options_.registers, name);
    if (!value) return std::nullopt;
    return *value;
  };
  WAYMARK_TRY(check_raw_registers(row, given, option_of(source)));
  std::string core_name = source.core.empty() ? options_.core : source.core;
  if (core_name.empty()) core_name = row.usual_core;
  const auto core = isa::core_by_name(core_name);
  if (!core)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}", option_of(source), core.error().detail));
  const RegisterReader registers = [&](std::string_view name) -> std::optional<RegisterValue> {
    const auto value = given(name);
    const auto bit = trace_id_bit(name);
    if (!bit || !source.id) return value;
    const std::uint32_t field = std::uint32_t{*source.id} << *bit;
    if (!value) return RegisterValue::assumed(field);
    return (value->value() & ~(0x7FU << *bit)) | field;
  };
  return attach(row, registers, *core,
                {.id = source.id.value_or(0),
                 .type = std::string(row.type),
                 .core_type = row.needs_core ? core_name : std::string()});
}

Result<void> CaptureBuilder::add_given_sources() {
  if (!options_.protocol.empty())
    return fail(ErrorCode::kInvalidArgument,
                "--source and --protocol exclude each other: --source states the protocol of each "
                "trace ID.");
  std::vector<std::string> types;
  for (const RawSource& source : options_.sources) {
    const ProtocolRow* const row = protocol_by_name(source.protocol);
    if (row != nullptr) types.emplace_back(row->type);
  }
  if (!types.empty()) WAYMARK_TRY(check_register_names(types));
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    const RawSource& source = options_.sources[i];
    for (std::size_t before = 0; before < i; ++before)
      if (source.id && options_.sources[before].id == source.id)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: another --source names this trace ID; remove one of them.",
                                option_of(source)));
    WAYMARK_TRY(add_given_source(source));
  }
  return {};
}

// The decoders of all pieces but the first must synchronise again, so four frame syncs come before
// each, as in a perf recording.
Result<void> CaptureBuilder::align_frames(const Detection& detection) {
  const bool wanted = options_.framing ? *options_.framing == Framing::kMemoryAligned
                                       : detection.kind == InputKind::kAlignedFrames ||
                                             detection.kind == InputKind::kUnknown;
  const Bytes content = capture_.trace_.bytes();
  if (!wanted || content.size() < frames::kFrameSize) return {};
  const auto aligned = [&] {
    const ScatteredReads scattered(capture_.trace_);
    return frames::is_aligned(content);
  };
  if (aligned()) return {};
  const frames::FrameAlignment alignment = frames::align(content, options_.stop);
  WAYMARK_TRY(go_on());
  if (!alignment.plausible()) return {};
  // Bytes that do not look like frames are no reason to leave them out.
  if (std::ranges::all_of(alignment.pieces, [](const frames::FramePiece& piece) {
        return piece.offset % frames::kFrameSize == 0;
      }))
    return {};
  auto joined = TemporaryFile::create(fmt::format("Cannot copy the frames of {}", name_));
  if (!joined) return std::unexpected(joined.error());
  std::array<std::uint8_t, frames::kFrameSize> barrier{};
  for (std::size_t at = 0; at < barrier.size(); at += frames::kFsyncBytes.size())
    std::ranges::copy(frames::kFsyncBytes, barrier.begin() + static_cast<std::ptrdiff_t>(at));
  for (const frames::FramePiece& piece : alignment.pieces) {
    WAYMARK_TRY(go_on());
    if (&piece != &alignment.pieces.front()) WAYMARK_TRY(joined->write(barrier));
    WAYMARK_TRY(joined->write(content.subspan(piece.offset, piece.size)));
  }
  const std::size_t left_out = alignment.left_out(content.size());
  if (alignment.pieces.size() == 1) {
    note(fmt::format("{}: by their content, the frames begin at offset {}; {} {} left out.", name_,
                     alignment.pieces.front().offset, counted(left_out, "byte"),
                     one_or(left_out, "is", "are")));
  } else {
    note_loss(fmt::format(
        "{}: bytes were lost or inserted, so the frames are in {} that begin at other offsets; {} "
        "{} left out, and places count the rest.",
        name_, counted(alignment.pieces.size(), "piece"), counted(left_out, "byte"),
        one_or(left_out, "is", "are")));
  }
  WAYMARK_TRY(set_trace(joined->map(capture_.trace_.path())));
  capture_.framing_ = Framing::kPieces;
  return {};
}

}  // namespace waymark::inputs
