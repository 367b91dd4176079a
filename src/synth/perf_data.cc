// Recordings of perf, from captures that were made: the same trace, with the processes and their
// memory as perf records them.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "waymark/base/mapped_file.h"
#include "waymark/perf/writer.h"
#include "waymark/synth/capture.h"

namespace waymark::synth {
namespace {

constexpr std::uint64_t kMagicV3 = 0x3030303030303030;
constexpr std::uint64_t kMagicV4 = 0x4040404040404040;
constexpr std::uint64_t kMagicEte = 0x5050505050505050;

struct Block {
  std::uint64_t magic;
  std::vector<std::string_view> registers;
};

std::optional<Block> block_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
    case Protocol::kPtm:
      return Block{kMagicV3, {"ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"}};
    case Protocol::kEtmV4:
      return Block{kMagicV4,
                   {"TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
                    "TRCAUTHSTATUS"}};
    case Protocol::kEte:
      return Block{kMagicEte,
                   {"TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
                    "TRCAUTHSTATUS", "TRCDEVARCH"}};
    default:
      return std::nullopt;
  }
}

std::uint64_t value_of(const TraceUnit& unit, std::string_view name) {
  const auto registers = unit.registers();
  const auto found = std::ranges::find(registers, name, &UnitRegister::name);
  return found == registers.end() ? 0 : found->value;
}

/// AUXTRACE_INFO: a unit per CPU.
void describe_units(const CaptureMaker& maker, perf::RecordBytes& records) {
  constexpr std::uint64_t kPmu = 8;
  constexpr std::uint32_t kCsEtm = 3;
  perf::ByteWriter info = records.body();
  info.u32(kCsEtm).u32(0).words({1, kPmu << 32 | maker.units().size(), 0});
  std::uint64_t cpu = 0;
  for (const auto& unit : maker.units()) {
    const auto block = block_of(unit->options().protocol);
    info.words({block->magic, cpu++, block->registers.size()});
    for (const std::string_view name : block->registers) info.u64(value_of(*unit, name));
  }
  records.add(perf::RecordType::kAuxtraceInfo, 0, info.bytes);
}

}  // namespace

Result<void> check_perf_data(const CaptureMaker& maker) {
  if (maker.options().framing != CaptureFraming::kMemoryAligned)
    return fail(ErrorCode::kInvalidArgument,
                "perf records memory-aligned frames: use --framing mem with --perf-data.");
  for (const auto& unit : maker.units()) {
    if (!block_of(unit->options().protocol)) {
      return fail(ErrorCode::kInvalidArgument,
                  "perf records only ETMv3, PTM, ETMv4 and ETE: leave out the other protocols, or "
                  "--perf-data.");
    }
  }
  return {};
}

Result<void> write_perf_data(const CaptureMaker& maker, const Program& program,
                             std::span<const std::uint32_t> processes,
                             const std::string& directory) {
  namespace fs = std::filesystem;
  WAYMARK_TRY(check_perf_data(maker));
  perf::RecordBytes records;
  describe_units(maker, records);
  for (const std::uint32_t pid : processes) {
    const perf::Stamp start{.pid = pid, .tid = pid, .time = 0, .cpu = 0};
    records.comm(start, fmt::format("synth-{}", pid));
    for (std::size_t i = 0; i < program.segments().size(); ++i) {
      const Segment& segment = program.segments()[i];
      records.mmap2(start, segment.address, segment.bytes.size(), 0,
                    "/" + CaptureMaker::memory_file(i));
    }
  }
  const fs::path folder(directory);
  const auto trace = MappedFile::open((folder / "trace.bin").string());
  if (!trace) return std::unexpected(trace.error());
  const std::uint32_t first = processes.front();
  const bool per_thread = processes.size() == 1;
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  records.aux({.pid = first, .tid = first, .time = 1'000'000, .cpu = 0}, 0, trace->size());
  records.auxtrace_header(0, trace->size(), 0, per_thread ? first : kNone, per_thread ? kNone : 0);
  const std::string path = (folder / "perf.data").string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             &std::fclose);
  const auto write = [&](Bytes bytes) {
    return file != nullptr &&
           std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  };
  if (!write(perf::file_bytes(records, {}, 128, trace->size())) || !write(trace->bytes()) ||
      std::fflush(file.get()) != 0) {
    return fail(ErrorCode::kIo, fmt::format("Cannot write '{}': {}.", path,
                                            std::generic_category().message(errno)));
  }
  return {};
}

}  // namespace waymark::synth
