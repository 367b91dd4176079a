// Raw trace: the command line says how it was made.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "capture_builder.h"
#include "waymark/base/nearest.h"
#include "waymark/base/shell_word.h"

namespace waymark::inputs {
namespace {

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
    case InputKind::kMtbRecords:
      return Framing::kNone;
    default:
      return std::nullopt;
  }
}

/// The registers that are needed and missing: "A", "A and B", "A, B and C".
std::string missing_registers(const ProtocolRow& row, const RegisterReader& registers,
                              bool decode) {
  std::vector<std::string_view> missing;
  for (const RegisterRule& rule : row.registers) {
    // The frames contain the ID of a source, so that its register is not needed.
    if (trace_id_bit(rule.name) || !rule.needed(registers, decode) || registers(rule.name))
      continue;
    missing.push_back(rule.name);
  }
  if (missing.size() < 2) return fmt::format("{}", fmt::join(missing, ""));
  return fmt::format("{} and {}", fmt::join(missing.begin(), missing.end() - 1, ", "),
                     missing.back());
}

/// "captures/loop" for "captures/loop.wmt": a folder for what is made from a file.
std::string folder_beside(const std::string& path) {
  const std::filesystem::path file(path);
  return file.has_extension() ? (file.parent_path() / file.stem()).string() : path + ".snapshot";
}

using NamedValues = std::vector<std::pair<std::string, std::uint32_t>>;

/// The registers of the command line; in frames, with the trace ID that the frames state.
RegisterReader registers_of_id(const NamedValues& given, TraceId id, bool framed) {
  return [&given, id, framed](std::string_view name) -> std::optional<RegisterValue> {
    const auto found =
        std::ranges::find(given, name, &std::pair<std::string, std::uint32_t>::first);
    const bool is_given = found != given.end();
    if (const auto bit = trace_id_bit(name); bit && framed) {
      const std::uint32_t field = std::uint32_t{id} << *bit;
      if (!is_given) return RegisterValue::assumed(field);
      return (found->second & ~(0x7FU << *bit)) | field;
    }
    if (!is_given) return std::nullopt;
    return found->second;
  };
}

}  // namespace

std::optional<unsigned> trace_id_bit(std::string_view register_name) {
  if (register_name.ends_with("TRACEIDR")) return 0;
  if (register_name == "ITMTCR" || register_name == "STMTCSR") return 16;
  return std::nullopt;
}

void CaptureBuilder::expect_late_sources(const ProtocolRow& row, isa::Core core,
                                         std::vector<TraceId> known) {
  capture_.reading_.late = std::make_shared<std::vector<CaptureSource>>();
  const std::string core_type = options_.core.empty() ? std::string(row.usual_core) : options_.core;
  capture_.tree_->set_source_maker(
      [&row, core, core_type, known = std::move(known), given = options_.registers,
       options = options_.source, image = capture_.image_.get(),
       late = capture_.reading_.late](TraceId id) mutable -> std::unique_ptr<Source> {
        const RegisterReader registers = registers_of_id(given, id, true);
        const bool data = row.protocol == Protocol::kEtmV4 && id % 2 == 1 &&
                          traces_data(registers) && std::ranges::find(known, id - 1) != known.end();
        const ProtocolRow& used = data ? *protocol_by_type("ETM4D") : row;
        auto made = used.make(registers, core, image, options);
        if (!made) return nullptr;
        known.push_back(id);
        late->push_back({.id = id,
                         .type = std::string(used.type),
                         .core_type = used.needs_core ? core_type : std::string(),
                         .profile = core.profile,
                         .source = made->get(),
                         .starts_in_sync = options.starts_in_sync,
                         .needs_image = used.needs_core});
        return *std::move(made);
      });
}

Result<void> CaptureBuilder::read_raw_input(const Detection& detection) {
  switch (detection.kind) {
    case InputKind::kElf:
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{0} is a program (an ELF file), not trace; give the trace as INPUT, and the "
                      "program with --elf {1}.",
                      name_, shell_word(name_)));
    case InputKind::kTraceScript:
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{0} is a trace script; run `waymark assemble {1} -o {2}` and give {2}.",
                      name_, shell_word(name_), shell_word(folder_beside(name_))));
    default:
      break;
  }
  WAYMARK_TRY(set_trace(std::move(capture_.trace_)));
  WAYMARK_TRY(align_frames(detection));
  if (capture_.framing_ == Framing::kPieces) return {};
  const ProtocolRow* const row = protocol_by_name(options_.protocol);
  auto framing = options_.framing ? options_.framing : framing_of(detection.kind);
  if (!options_.framing && row != nullptr && !row->framed) framing = Framing::kNone;
  if (!framing) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} State the framing with --framing mem, fsync, hsync, dstream or "
                            "none; `waymark info {}` shows which one fits.",
                            name_.empty() ? "INPUT" : name_, detection.why, shell_word(name_)));
  }
  capture_.framing_ = *framing;
  if (row != nullptr) WAYMARK_TRY(check_framing(*row));
  return {};
}

Result<void> CaptureBuilder::check_raw_registers(const ProtocolRow& row,
                                                 const RegisterReader& registers,
                                                 std::string_view option) const {
  const std::string missing = missing_registers(row, registers, options_.source.decode);
  if (missing.empty()) return {};
  if (!option.empty())
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "{}: raw trace does not contain register values; add the registers {} to {} ({}).",
            name_, missing, option, row.where_registers));
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: raw trace does not contain register values; state {} with --reg ({}).",
                  name_, missing, row.where_registers));
}

/// The protocol is not known, or the likely one needs registers.
std::unexpected<Error> CaptureBuilder::no_protocol() const {
  std::string_view protocol;
  if (capture_.kind_ == InputKind::kPtmStream) protocol = "ptm";
  if (capture_.kind_ == InputKind::kEtmv4Stream) protocol = "etmv4";
  std::string advice;
  const ProtocolRow& row = *protocol_by_name(protocol.empty() ? "etmv4" : protocol);
  const std::string registers = missing_registers(
      row, [](std::string_view /*name*/) { return std::nullopt; }, options_.source.decode);
  if (protocol.empty()) {
    advice = fmt::format(
        "state --protocol etmv4, ete, ptm, etmv3, stm, itm or mtb, and the registers of the trace "
        "unit with --reg, for etmv4 {} ({})",
        registers, row.where_registers);
  } else {
    advice = fmt::format("it looks like {}; add --protocol {}{}, and state {} with --reg ({})",
                         protocol == "ptm" ? "a PTM stream" : "an ETMv4 or ETE stream", protocol,
                         protocol == "ptm" ? "" : " (or ete)", registers, row.where_registers);
  }
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: raw trace does not name its protocol: {}. `waymark info {}` identifies it.",
                  name_, advice, shell_word(name_)));
}

Result<void> CaptureBuilder::add_raw_sources() {
  if (!options_.sources.empty()) return add_given_sources();
  if (options_.protocol.empty() && capture_.kind_ == InputKind::kItmStream) {
    options_.protocol = "itm";
  } else if (options_.protocol.empty() && capture_.kind_ == InputKind::kStmStream) {
    options_.protocol = "stm";
  } else if (options_.protocol.empty() && capture_.kind_ == InputKind::kMtbRecords) {
    options_.protocol = "mtb";
  }
  if (options_.protocol.empty()) return no_protocol();
  const ProtocolRow* row = protocol_by_name(options_.protocol);
  if (row == nullptr || row->make == nullptr) {
    constexpr std::string_view kNames[] = {"etmv4", "ete", "ptm", "etmv3",
                                           "stm",   "itm", "mtb", "etmv4d"};
    const auto meant = nearest(options_.protocol, kNames);
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("--protocol {}: there is no decoder for this protocol; {}", options_.protocol,
                    meant ? fmt::format("did you mean {}?", *meant)
                          : fmt::format("use {}.", fmt::join(kNames, ", "))));
  }
  WAYMARK_TRY(check_register_names({std::string(row->type)}));
  const auto given = [&](std::string_view name) -> std::optional<std::uint32_t> {
    const auto found =
        std::ranges::find(options_.registers, name, &std::pair<std::string, std::uint32_t>::first);
    if (found == options_.registers.end()) return std::nullopt;
    return found->second;
  };
  WAYMARK_TRY(check_raw_registers(*row, given, {}));
  const std::string core_name =
      options_.core.empty() ? std::string(row->usual_core) : options_.core;
  const auto core = isa::core_by_name(core_name);
  if (!core) return std::unexpected(core.error());

  std::vector<TraceId> ids = options_.ids;
  if (capture_.framing_ == Framing::kNone) {
    ids.assign(1, 0);
  } else if (ids.empty()) {
    for (TraceId id = 1; id < 0x70; ++id) {
      if (capture_.id_bytes_[id] != 0) ids.push_back(id);
    }
  }
  const bool is_open =
      options_.live != nullptr && capture_.framing_ != Framing::kNone && options_.ids.empty();
  if (is_open) expect_late_sources(*row, *core, ids);
  if (ids.empty() && (!is_open || options_.live->ended())) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: no frame names a trace ID; perhaps --framing {} is wrong.", name_,
                            framing_name(capture_.framing_)));
  }
  for (const TraceId id : ids) {
    const RegisterReader registers =
        registers_of_id(options_.registers, id, capture_.framing_ != Framing::kNone);
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

}  // namespace waymark::inputs
