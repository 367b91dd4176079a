// Raw trace, of which the command line says how it was made.
#include <fmt/format.h>

#include <algorithm>

#include "capture_builder.h"

namespace waymark::inputs {
namespace {

/// Where a user finds the registers of a trace unit.
constexpr std::string_view kWhereRegisters =
    "on Linux they stand in /sys/bus/coresight/devices/etm0/mgmt/";

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

}  // namespace

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
                            "ptm, etmv3, stm, itm or etmv4d.",
                            path_, options_.protocol));
  }
  WAYMARK_TRY(check_raw_registers(*row));
  const std::string core_name = options_.core.empty() ? "ARMv8-A" : options_.core;
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

}  // namespace waymark::inputs
