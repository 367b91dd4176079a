#include "waymark/doctor/found_snapshot.h"

#include <fmt/format.h>

#include "registers.h"
#include "waymark/inputs/protocols.h"

namespace waymark::doctor {
namespace {

using inputs::Framing;

Result<inputs::BufferFormat> format_of(Framing framing) {
  switch (framing) {
    case Framing::kNone:
      return inputs::BufferFormat::kSingleSource;
    case Framing::kMemoryAligned:
    case Framing::kPieces:
      return inputs::BufferFormat::kMemoryAligned;
    case Framing::kFsync:
    case Framing::kDstream:  // trace_of() leaves the footers out.
      return inputs::BufferFormat::kFsyncFrames;
    case Framing::kHsync:
      break;
  }
  return fail(
      ErrorCode::kUnsupported,
      "A snapshot cannot state that its frames have half syncs; decode the file itself, with "
      "--framing hsync.");
}

/// The name of the register that holds the trace ID, and the ID in its place.
std::pair<std::string_view, std::uint32_t> id_register(std::string_view protocol, TraceId id) {
  if (protocol == "stm") return {"STMTCSR", std::uint32_t{id} << 16};
  if (protocol == "itm") return {"ITMTCR", std::uint32_t{id} << 16};
  if (protocol == "ptm" || protocol == "etmv3") return {"ETMTRACEIDR", id};
  return {"TRCTRACEIDR", id};
}

/// The device type, with the version where the format has one.
std::string_view device_type(std::string_view type) {
  if (type == "PTM1") return "PTM1.1";
  if (type == "ETM3") return "ETM3.5";
  return type;
}

inputs::Device device_of(const StreamFound& stream, const ProtocolTrial& protocol,
                         std::size_t number) {
  inputs::Device device{.file = fmt::format("device_{}.ini", number),
                        .name = fmt::format("{}_{}", protocol.type, number),
                        .class_name = "trace_source",
                        .type = std::string(device_type(protocol.type))};
  Registers registers = stream.verdict.registers;
  const auto [name, value] = id_register(protocol.protocol, stream.id);
  const bool whole = name.ends_with("TRACEIDR");
  set_field(registers, name, (whole ? 0x7FU : 0x7F0000U), value);
  for (const auto& [register_name, register_value] : registers)
    device.registers.push_back(
        {.name = register_name, .text = fmt::format("{:#010x}", register_value)});
  return device;
}

}  // namespace

Result<inputs::Snapshot> snapshot_of(const Examination& found) {
  const auto format = format_of(found.framing.framing);
  if (!format) return std::unexpected(format.error());
  inputs::Snapshot snapshot;
  snapshot.description =
      "Made from trace of unknown format. Registers that the trace does not show have their "
      "usual values.";
  inputs::TraceBuffer buffer{.name = "TRACE_0",
                             .file = std::string(kTraceFile),
                             .format = std::string(inputs::buffer_format_name(*format))};
  std::size_t number = 0;
  for (const StreamFound& stream : found.streams) {
    const ProtocolTrial* const protocol = protocol_trial(stream.verdict.protocol);
    if (protocol == nullptr) continue;
    inputs::Device device = device_of(stream, *protocol, ++number);
    snapshot.source_buffers.push_back({.source = device.name, .buffer = buffer.name});
    const inputs::ProtocolRow& row = *inputs::protocol_by_type(protocol->type);
    if (row.needs_core) {
      inputs::Device core{.file = fmt::format("core_{}.ini", number),
                          .name = fmt::format("core_{}", number),
                          .class_name = "core",
                          .type = std::string(row.usual_core)};
      snapshot.core_trace_sources.push_back({.source = device.name, .core = core.name});
      snapshot.devices.push_back(std::move(core));
    }
    snapshot.devices.push_back(std::move(device));
  }
  if (number == 0)
    return fail(ErrorCode::kUnsupported,
                "No source was found whose protocol a snapshot can state; the trace is unchanged.");
  snapshot.buffers.push_back(std::move(buffer));
  return snapshot;
}

}  // namespace waymark::doctor
