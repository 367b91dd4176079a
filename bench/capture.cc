#include "bench/capture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "waymark/base/types.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/isa/instruction.h"

namespace waymark::bench {
namespace {

using inputs::Device;
using inputs::Snapshot;
using inputs::TraceBuffer;
using inputs::TraceSource;

std::uint32_t value_or(const Device& device, std::string_view name, std::uint32_t otherwise) {
  return device.value(name).value_or(otherwise);
}

std::optional<SourceKind> kind_of(std::string_view protocol) {
  if (protocol == "ETM4") return SourceKind::kEtmV4;
  if (protocol == "ETE") return SourceKind::kEte;
  if (protocol == "ETM3") return SourceKind::kEtmV3;
  if (protocol == "PTM1" || protocol == "PFT1") return SourceKind::kPtm;
  if (protocol == "STM") return SourceKind::kStm;
  return std::nullopt;
}

std::expected<SourceSetup, std::string> source_setup(const Device& device,
                                                     const TraceSource& source) {
  if (kind_of(source.protocol) == SourceKind::kStm) {
    SourceSetup setup;
    setup.device = device.name;
    setup.kind = SourceKind::kStm;
    setup.traceidr = value_or(device, "STMTCSR", 0) >> 16;
    return setup;
  }
  const auto core = isa::core_by_name(source.core_type);
  if (!core) return std::unexpected(core.error().detail);
  SourceSetup setup{
      .device = device.name,
      .kind = *kind_of(source.protocol),
      .configr = value_or(device, "TRCCONFIGR", 0),
      .traceidr = value_or(device, "TRCTRACEIDR", value_or(device, "ETMTRACEIDR", 0)),
      .idr0 = value_or(device, "TRCIDR0", 0),
      .idr1 = value_or(device, "TRCIDR1", 0x4100F403),
      .idr2 = value_or(device, "TRCIDR2", 0),
      .idr8 = value_or(device, "TRCIDR8", 0),
      .idr9 = value_or(device, "TRCIDR9", 0),
      .idr10 = value_or(device, "TRCIDR10", 0),
      .idr11 = value_or(device, "TRCIDR11", 0),
      .idr12 = value_or(device, "TRCIDR12", 0),
      .idr13 = value_or(device, "TRCIDR13", 0),
      .devarch = value_or(device, "TRCDEVARCH", 0x47705A13),
      .etmidr = value_or(device, "ETMIDR", 0),
      .etmcr = value_or(device, "ETMCR", 0),
      .etmccer = value_or(device, "ETMCCER", 0),
      .arch = std::to_underlying(core->arch),
      .profile = std::to_underlying(core->profile),
  };
  return setup;
}

void add_memory(const Snapshot& snapshot, const Device& core, Capture& capture) {
  for (const auto& dump : core.dumps) {
    const auto space = image::space_by_name(dump.space);
    MemorySetup memory{.path = snapshot.path_of(dump.file),
                       .address = dump.address,
                       .offset = dump.length != 0 ? dump.offset : 0,
                       .length = dump.length,
                       .space = space ? *space : image::kSpaceAny};
    const bool known = std::ranges::any_of(capture.memory, [&](const MemorySetup& other) {
      return other.path == memory.path && other.address == memory.address;
    });
    if (known) continue;
    std::error_code error;
    if (!std::filesystem::exists(memory.path, error)) {
      std::string note = "Memory dump " + dump.file + " is missing, for both sides.";
      if (std::ranges::find(capture.notes, note) == capture.notes.end()) {
        capture.notes.push_back(std::move(note));
      }
      continue;
    }
    capture.memory.push_back(std::move(memory));
  }
}

std::expected<std::vector<std::uint8_t>, std::string> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected("cannot open " + path);
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file), {});
}

Framing framing_of(const TraceBuffer& buffer) {
  switch (inputs::buffer_format(buffer.format)) {
    case inputs::BufferFormat::kSingleSource:
      return Framing::kNone;
    case inputs::BufferFormat::kFsyncFrames:
      return Framing::kFsync;
    case inputs::BufferFormat::kMemoryAligned:
      return Framing::kMemoryAligned;
  }
  return Framing::kMemoryAligned;
}

}  // namespace

std::expected<Capture, std::string> read_capture(const std::string& folder,
                                                 std::size_t minimum_bytes, bool for_reference) {
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(folder, problems);
  if (!snapshot) return std::unexpected(snapshot.error().detail);
  if (snapshot->buffers.empty()) return std::unexpected(folder + " has no trace buffer");
  const TraceBuffer& buffer = snapshot->buffers.front();

  Capture capture;
  const std::filesystem::path path(folder);
  capture.name = path.has_filename() ? path.filename() : path.parent_path().filename();
  capture.framing = framing_of(buffer);
  auto trace = read_bytes(snapshot->path_of(buffer.file));
  if (!trace) return std::unexpected(trace.error());
  if (trace->empty()) return std::unexpected(buffer.file + " is empty");
  for (const TraceSource& source : buffer.sources) {
    if (!kind_of(source.protocol) || source.device_index == TraceSource::kNoDevice) {
      capture.notes.push_back("Source " + source.device + " is left out on both sides.");
      continue;
    }
    auto setup = source_setup(snapshot->devices[source.device_index], source);
    if (!setup) return std::unexpected(setup.error());
    capture.sources.push_back(std::move(*setup));
    if (source.core_index != TraceSource::kNoDevice) {
      add_memory(*snapshot, snapshot->devices[source.core_index], capture);
    }
    if (capture.framing == Framing::kNone) break;
  }
  if (capture.sources.empty()) return std::unexpected(folder + " has no source that is measured");
  // A second pass over an STM would begin within a packet, where the reference stops.
  const bool repeats =
      !for_reference || std::ranges::none_of(capture.sources, [](const auto& source) {
        return source.kind == SourceKind::kStm;
      });
  const std::size_t least = repeats ? std::max<std::size_t>(minimum_bytes, 1) : 1;
  while (capture.trace.size() < least)
    capture.trace.insert(capture.trace.end(), trace->begin(), trace->end());
  return capture;
}

}  // namespace waymark::bench
