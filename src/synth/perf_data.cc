#include "waymark/synth/perf_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "jit_code.h"
#include "output_file.h"
#include "process_schedule.h"
#include "waymark/base/mapped_file.h"
#include "waymark/frames/demux.h"
#include "waymark/image/image.h"
#include "waymark/perf/compressor.h"
#include "waymark/perf/recording.h"
#include "waymark/perf/writer.h"
#include "waymark/synth/m_profile.h"

namespace waymark::synth {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagicV3 = 0x3030303030303030;
constexpr std::uint64_t kMagicV4 = 0x4040404040404040;
constexpr std::uint64_t kMagicEte = 0x5050505050505050;
constexpr std::uint64_t kVirtualCounter = 1;
/// 25 MHz.
constexpr perf::TimeConversion kClock = {
    .shift = 10, .multiplier = 40 << 10, .zero = 1'000'000'000};
constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kSink = 0x51;  // Any number; with raw trace, each unit adds its own.

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

/// AUXTRACE_INFO: a unit for each CPU.
void describe_units(const CaptureMaker& maker, const PerfDataOptions& options,
                    perf::RecordBytes& records) {
  const unsigned version = options.metadata;
  constexpr std::uint64_t kPmu = 8;
  constexpr std::uint32_t kCsEtm = 3;
  constexpr std::uint64_t kIdIsUnused = std::uint64_t{1} << 31;
  perf::ByteWriter info = records.body();
  info.u32(kCsEtm).u32(0).words({version, kPmu << 32 | maker.units().size(), 0});
  std::uint64_t cpu = 0;
  for (const auto& unit : maker.units()) {
    const auto block = block_of(unit->options().protocol);
    info.words({block->magic, cpu});
    const bool has_source = options.times && version != 0 && block->magic != kMagicV3;
    if (version != 0) info.u64(block->registers.size() + (has_source ? 1 : 0));
    for (const std::string_view name : block->registers) {
      // Since version 2, the records of hardware IDs say it.
      if (version == 2 && name.ends_with("TRACEIDR")) {
        info.u64((0x10 + 2 * cpu) | kIdIsUnused);
      } else {
        info.u64(value_of(*unit, name));
      }
    }
    if (has_source) info.u64(kVirtualCounter);
    ++cpu;
  }
  records.add(perf::RecordType::kAuxtraceInfo, 0, info.bytes);
}

/// Trace of one CPU, or of all in frames.
struct Stream {
  std::optional<std::size_t> unit{};
  std::uint64_t size = 0;
};

/// The content of one AUXTRACE record.
struct Buffer {
  std::uint32_t queue = 0;
  std::uint32_t tid = perf::kNone32;
  std::uint32_t cpu = perf::kNone32;
  std::vector<Stream> streams{};

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t all = 0;
    for (const Stream& stream : streams) all += stream.size;
    return all;
  }
};

/// Calls `take` with the bytes of each source in the frames of `trace`.
Result<void> deformat(Bytes trace,
                      const std::function<Result<void>(TraceId id, Bytes bytes)>& take) {
  frames::Demux demux({.memory_aligned = true});
  WAYMARK_TRY(demux.feed(0, trace.first(trace.size() / frames::kFrameSize * frames::kFrameSize)));
  for (frames::Step step = demux.step(); step != frames::Step::kNeedInput; step = demux.step()) {
    if (step == frames::Step::kError) demux.resync();
    if (step != frames::Step::kFrame) continue;
    for (const frames::Segment& segment : demux.frame().view())
      if (segment.size != 0) WAYMARK_TRY(take(segment.id, segment.bytes()));
  }
  return {};
}

/// Writes one recording.
class PerfDataWriter {
 public:
  PerfDataWriter(const CaptureMaker& maker, const Program& program,
                 std::span<const std::uint32_t> processes, const PerfDataOptions& options)
      : maker_(maker), program_(program), processes_(processes), options_(options) {}

  Result<void> write(const fs::path& folder) {
    auto trace = MappedFile::open((folder / "trace.bin").string());
    if (!trace) return std::unexpected(trace.error());
    trace_ = trace->bytes();
    WAYMARK_TRY(plan());
    if (options_.jit) WAYMARK_TRY(write_jitdump(folder));
    if (options_.times) WAYMARK_TRY(plan_times());
    const fs::path path = folder / "perf.data";
    std::error_code error;
    fs::remove_all(path, error);
    return options_.form == PerfDataOptions::Form::kFolder ? write_folder(path) : write_file(path);
  }

 private:
  [[nodiscard]] std::string jitdump_name() const {
    return fmt::format("jit-{}.dump", processes_.front());
  }
  Result<void> write_jitdump(const fs::path& folder) const {
    constexpr std::uint64_t kAfterAll = std::uint64_t{1} << 60;
    auto out = OutputFile::open(folder / jitdump_name());
    if (!out) return std::unexpected(out.error());
    WAYMARK_TRY(out->write(jitdump_bytes(
        program_, processes_.front(), {.begin = kTraceBegin, .end = kAfterAll}, options_.order)));
    return out->close();
  }

  /// Decides which buffers there are.
  Result<void> plan() {
    const std::uint32_t thread = options_.per_thread ? processes_.front() : perf::kNone32;
    const auto cpu = [&](std::size_t number) {
      return options_.per_thread ? perf::kNone32 : static_cast<std::uint32_t>(number);
    };
    if (!options_.raw) {
      buffers_.push_back(
          {.tid = thread, .cpu = cpu(0), .streams = {Stream{.size = trace_.size()}}});
      return {};
    }
    std::array<std::uint64_t, 256> sizes{};
    WAYMARK_TRY(deformat(trace_, [&](TraceId id, Bytes bytes) -> Result<void> {
      sizes[id] += bytes.size();
      return {};
    }));
    for (std::size_t i = 0; i < maker_.units().size(); ++i) {
      if (buffers_.empty() || !options_.per_thread) {
        buffers_.push_back(
            {.queue = static_cast<std::uint32_t>(i), .tid = thread, .cpu = cpu(i), .streams = {}});
      }
      buffers_.back().streams.push_back(
          Stream{.unit = i, .size = sizes[maker_.units()[i]->options().trace_id]});
    }
    return {};
  }

  /// Decodes the trace to see when each process runs.
  Result<void> plan_times() {
    image::Image image;
    for (const Segment& segment : program_.segments())
      WAYMARK_TRY(image.add_view(segment.address, segment.bytes));
    schedule_.emplace(processes_,
                      !options_.per_thread && !maker_.units().front()->options().context_ids);
    std::array<Element, 256> elements;
    for (std::size_t i = 0; i < maker_.units().size(); ++i) {
      const TraceUnit& unit = *maker_.units()[i];
      const auto source = unit.make_source(image);
      schedule_->begin_cpu(static_cast<std::uint32_t>(i));
      const auto take = [&] {
        while (const std::size_t count = source->next(elements))
          for (const Element& element : std::span(elements).first(count))
            schedule_->observe(element);
      };
      WAYMARK_TRY(deformat(trace_, [&](TraceId id, Bytes bytes) -> Result<void> {
        if (id != unit.options().trace_id) return {};
        const frames::Run run{};
        source->feed({bytes, {&run, 1}});
        take();
        return {};
      }));
      source->finish();
      take();
      schedule_->end_cpu();
    }
    time_ = kClock.nanoseconds(schedule_->latest()) + 1'000'000;
    return {};
  }

  /// The memory of a process that has the program only while it runs, and switches of CPUs.
  void add_schedule(perf::RecordBytes& records) const {
    for (const std::uint32_t pid : processes_) {
      for (const Interval& runs : schedule_->intervals_of(pid)) {
        const std::uint64_t begin = runs.first == 0 ? 0 : kClock.nanoseconds(runs.first);
        add_memory(records, {.pid = pid, .tid = pid, .time = begin, .cpu = 0}, true);
        if (runs.last == Interval::kNoEnd) continue;
        const std::uint64_t end = kClock.nanoseconds(runs.last) + 1;
        add_memory(records, {.pid = pid, .tid = pid, .time = end, .cpu = 0}, false);
      }
    }
    for (const ProcessSwitch& each : schedule_->switches()) {
      const std::uint64_t time = each.from ? kClock.nanoseconds(each.after) + 1 : 1;
      if (each.from) {
        records.context_switch(
            {.pid = *each.from, .tid = *each.from, .time = time, .cpu = each.cpu}, false);
      }
      records.context_switch({.pid = each.to, .tid = each.to, .time = time, .cpu = each.cpu}, true);
    }
  }

  /// Maps the program, or memory without a file in its place.
  void add_memory(perf::RecordBytes& records, const perf::Stamp& stamp, bool program) const {
    for (std::size_t i = 0; i < program_.segments().size(); ++i) {
      const Segment& segment = program_.segments()[i];
      const Origin& origin = segment.origin;
      if (program && !origin.file.empty()) {
        // Whole pages, as a kernel maps them, if the program is linked so that it can.
        const bool pages = origin.offset % kPage == segment.address % kPage;
        const std::uint64_t before = pages ? segment.address % kPage : 0;
        const std::uint64_t size = before + segment.bytes.size();
        records.mmap2(stamp, segment.address - before,
                      pages ? (size + kPage - 1) / kPage * kPage : size, origin.offset - before,
                      "/" + CaptureMaker::program_file(origin.file));
        continue;
      }
      records.mmap2(stamp, segment.address, segment.bytes.size(), 0,
                    program ? "/" + CaptureMaker::memory_file(i) : "//anon");
    }
  }

  [[nodiscard]] perf::RecordBytes side_band() const {
    perf::RecordBytes records(options_.order);
    for (std::size_t i = 0; options_.metadata == 2 && i < maker_.units().size(); ++i) {
      constexpr std::uint64_t kMinorVersion = std::uint64_t{1} << 56;
      const std::uint64_t sink = kSink + (options_.raw ? i : 0);
      records.add(
          perf::RecordType::kAuxOutputHwId, 0,
          records.body().u64(maker_.units()[i]->options().trace_id | sink << 8 | kMinorVersion),
          {.cpu = static_cast<std::uint32_t>(i)});
    }
    for (const std::uint32_t pid : processes_) {
      const perf::Stamp start{.pid = pid, .tid = pid, .time = 0, .cpu = 0};
      records.comm(start, fmt::format("synth-{}", pid));
      const bool jitted = options_.jit && pid == processes_.front();
      if (jitted) records.mmap2(start, kMarkerAddress, kMarkerSize, 0, "/" + jitdump_name());
      if (!schedule_) add_memory(records, start, !jitted);
    }
    if (schedule_) add_schedule(records);
    return records;
  }

  /// The AUX records of a buffer, each of which is a stretch of one stream.
  void add_aux(const Buffer& buffer, perf::RecordBytes& records) {
    std::uint64_t offset = 0;
    for (const Stream& stream : buffer.streams) {
      const std::uint64_t most = (stream.size + options_.pieces - 1) / options_.pieces;
      const std::uint64_t piece =
          std::max<std::uint64_t>((most + frames::kFrameSize - 1) / frames::kFrameSize, 1) *
          frames::kFrameSize;
      for (std::uint64_t done = 0; done < stream.size; done += piece) {
        const std::uint64_t size = std::min(piece, stream.size - done);
        const auto on = static_cast<std::uint32_t>(stream.unit.value_or(0));
        time_ += 1000;
        records.aux(
            {.pid = processes_.front(), .tid = processes_.front(), .time = time_, .cpu = on},
            offset + done, size, stream.unit ? std::uint64_t{perf::kAuxRaw} : 0);
      }
      offset += stream.size;
    }
  }

  /// Compressed, if that is wanted.
  [[nodiscard]] Result<perf::RecordBytes> packed(perf::RecordBytes records) const {
    if (!options_.compressed) return records;
    return perf::compress(records);
  }

  Result<void> write_trace(const Buffer& buffer, OutputFile& out) {
    perf::RecordBytes header(options_.order);
    header.auxtrace_header(0, buffer.size(), buffer.queue, buffer.tid, buffer.cpu);
    headers_.push_back(out.size());
    WAYMARK_TRY(out.write(header.out.bytes));
    for (const Stream& stream : buffer.streams) {
      if (!stream.unit) {
        WAYMARK_TRY(out.write(trace_));
        continue;
      }
      const TraceId wanted = maker_.units()[*stream.unit]->options().trace_id;
      std::vector<std::uint8_t> some;
      const auto copied = deformat(trace_, [&](TraceId id, Bytes bytes) -> Result<void> {
        if (id != wanted) return {};
        some.insert(some.end(), bytes.begin(), bytes.end());
        if (some.size() < kWriteSize) return {};
        WAYMARK_TRY(out.write(some));
        some.clear();
        return {};
      });
      if (!copied) return std::unexpected(copied.error());
      WAYMARK_TRY(out.write(some));
    }
    return {};
  }

  /// The size that an AUXTRACE record with its trace takes.
  [[nodiscard]] std::uint64_t trace_record_size(const Buffer& buffer) const {
    return kAuxtraceSize + buffer.size();
  }

  [[nodiscard]] perf::FeatureBytes features(bool with_index) const {
    perf::FeatureBytes all;
    all.emplace_back(perf::Feature::kArch, perf::feature_text(options_.order, "aarch64"));
    if (with_index) {
      perf::ByteWriter index(options_.order);
      index.u64(headers_.size());
      for (const std::uint64_t offset : headers_) index.words({offset, kAuxtraceSize});
      all.emplace_back(perf::Feature::kAuxtrace, index.bytes);
    }
    if (options_.form == PerfDataOptions::Form::kFolder) {
      perf::ByteWriter version(options_.order);
      all.emplace_back(perf::Feature::kDirFormat, version.u64(1).bytes);
    }
    if (options_.compressed)
      all.emplace_back(perf::Feature::kCompressed, perf::compressed_feature(options_.order));
    return all;
  }

  [[nodiscard]] std::uint64_t config() const {
    std::uint64_t config = 0;
    for (const auto& unit : maker_.units()) {
      if (unit->options().context_ids) config |= perf::kCsEtmContextId;
      if (unit->options().timestamp_mean != 0) config |= perf::kCsEtmTimestamps;
      if (unit->options().cycle_counts) config |= perf::kCsEtmCycles;
    }
    return config;
  }

  Result<void> write_file(const fs::path& path) {
    perf::RecordBytes events = side_band();
    for (const Buffer& buffer : buffers_) add_aux(buffer, events);
    const auto kernel = packed(std::move(events));
    if (!kernel) return std::unexpected(kernel.error());
    perf::RecordBytes first(options_.order);
    describe_units(maker_, options_, first);
    if (options_.times) first.time_conversion(kClock.shift, kClock.multiplier, kClock.zero);
    auto out = OutputFile::open(path);
    if (!out) return std::unexpected(out.error());
    const bool pipe = options_.form == PerfDataOptions::Form::kPipe;
    std::uint64_t size = first.out.bytes.size() + kernel->out.bytes.size();
    for (const Buffer& buffer : buffers_) size += trace_record_size(buffer);
    headers_.assign(buffers_.size(), 0);  // So that the header knows the feature.
    WAYMARK_TRY(out->write(pipe ? perf::pipe_header(options_.order, config(), options_.jit)
                                : perf::file_header(options_.order, size, features(true),
                                                    kAttributeSize, config(), options_.jit)));
    if (pipe) {
      for (const auto& [feature, payload] : features(false)) {
        perf::RecordBytes record(options_.order);
        record.add(perf::RecordType::kHeaderFeature, 0,
                   record.body().u64(static_cast<std::uint64_t>(feature)).raw(payload).bytes);
        WAYMARK_TRY(out->write(record.out.bytes));
      }
    }
    headers_.clear();
    WAYMARK_TRY(out->write(first.out.bytes));
    WAYMARK_TRY(out->write(kernel->out.bytes));
    for (const Buffer& buffer : buffers_) WAYMARK_TRY(write_trace(buffer, *out));
    if (!pipe)
      WAYMARK_TRY(out->write(perf::file_features(options_.order, out->size(), features(true))));
    return out->close();
  }

  /// The main file has the processes; one for each buffer has its trace.
  Result<void> write_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) {
      return fail(ErrorCode::kIo, fmt::format("Cannot create the folder '{}': {}.", path.string(),
                                              error.message()));
    }
    auto main = OutputFile::open(path / "data");
    if (!main) return std::unexpected(main.error());
    perf::RecordBytes first(options_.order);
    describe_units(maker_, options_, first);
    if (options_.times) first.time_conversion(kClock.shift, kClock.multiplier, kClock.zero);
    const auto events = packed(side_band());
    if (!events) return std::unexpected(events.error());
    WAYMARK_TRY(main->write(
        perf::file_header(options_.order, first.out.bytes.size() + events->out.bytes.size(),
                          features(false), kAttributeSize, config(), options_.jit)));
    WAYMARK_TRY(main->write(first.out.bytes));
    WAYMARK_TRY(main->write(events->out.bytes));
    WAYMARK_TRY(main->write(perf::file_features(options_.order, main->size(), features(false))));
    WAYMARK_TRY(main->close());
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      auto out = OutputFile::open(path / fmt::format("data.{}", i));
      if (!out) return std::unexpected(out.error());
      perf::RecordBytes records(options_.order);
      add_aux(buffers_[i], records);
      const auto written = packed(std::move(records));
      if (!written) return std::unexpected(written.error());
      WAYMARK_TRY(out->write(written->out.bytes));
      WAYMARK_TRY(write_trace(buffers_[i], *out));
      WAYMARK_TRY(out->close());
    }
    return {};
  }

  static constexpr std::size_t kWriteSize = std::size_t{256} << 10;
  static constexpr std::uint32_t kAttributeSize = 128;
  static constexpr std::uint64_t kTraceBegin = 1'000'000;  ///< ns.
  // Where the JIT compiler maps its jitdump file, so that the recording names it.
  static constexpr std::uint64_t kMarkerAddress = 0x7F00'0000;
  static constexpr std::uint64_t kMarkerSize = 0x1000;
  static constexpr std::uint64_t kAuxtraceSize = 48;  ///< Without its trace.

  const CaptureMaker& maker_;
  const Program& program_;
  std::span<const std::uint32_t> processes_;
  const PerfDataOptions& options_;
  Bytes trace_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint64_t> headers_;  ///< Offsets of the AUXTRACE records.
  std::uint64_t time_ = kTraceBegin;
  std::optional<ProcessSchedule> schedule_;
};

std::unexpected<Error> refused(std::string detail) {
  return fail(ErrorCode::kInvalidArgument, std::move(detail));
}

}  // namespace

Result<void> check_perf_data(const CaptureMaker& maker, std::size_t processes,
                             const PerfDataOptions& options) {
  if (maker.options().framing != CaptureFraming::kMemoryAligned)
    return refused("perf records memory-aligned frames: use --framing mem with --perf-data.");
  for (const auto& unit : maker.units()) {
    if (!block_of(unit->options().protocol)) {
      return refused(
          "perf records only ETMv3, PTM, ETMv4 and ETE: leave out the other protocols, or "
          "--perf-data.");
    }
    if (m_core(unit->core()) != nullptr)
      return refused(fmt::format(
          "perf does not run on {}: leave out --perf-data, or take a core of another profile.",
          unit->core()));
    if (options.metadata == 0 && unit->options().protocol == Protocol::kEte) {
      return refused(
          "Version 0 of the description of trace units has no ETE: use --perf-metadata 1 or 2.");
    }
  }
  if (options.metadata > 2)
    return refused("The description of trace units has the versions 0, 1 and 2.");
  if (processes == 0) return refused("A recording has at least one process.");
  if (options.pieces == 0) return refused("A recording has at least one piece of trace.");
  if (options.per_thread && processes != 1) {
    return refused(
        "A recording per thread has one process here: use --context-ids 1, or leave out "
        "--perf-per-thread.");
  }
  if (options.times && options.jit)
    return refused(
        "The code of a JIT compiler has times of its own: leave out --perf-times or --perf-jit.");
  if (options.times && std::ranges::any_of(maker.units(), [](const auto& unit) {
        return unit->options().timestamp_mean == 0;
      }))
    return refused("The trace has no times: use --timestamps with --perf-times.");
  if (options.compressed && !perf::can_compress())
    return fail(ErrorCode::kUnsupported, "Waymark was built without zstd, so it cannot compress.");
  return {};
}

Result<void> write_perf_data(const CaptureMaker& maker, const Program& program,
                             std::span<const std::uint32_t> processes, const std::string& directory,
                             const PerfDataOptions& options) {
  WAYMARK_TRY(check_perf_data(maker, processes.size(), options));
  return PerfDataWriter(maker, program, processes, options).write(directory);
}

}  // namespace waymark::synth
