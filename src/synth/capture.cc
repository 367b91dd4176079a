#include "waymark/synth/capture.h"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>

#include "protocols.h"

namespace waymark::synth {
namespace {

inputs::BufferFormat format_of(CaptureFraming framing) {
  switch (framing) {
    case CaptureFraming::kNone:
      return inputs::BufferFormat::kSingleSource;
    case CaptureFraming::kFsync:
      return inputs::BufferFormat::kFsyncFrames;
    case CaptureFraming::kMemoryAligned:
      break;
  }
  return inputs::BufferFormat::kMemoryAligned;
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::uint64_t wait(std::uint64_t mean, Random& random) {
  return mean == 0 ? kNever : random.about(mean);
}

frames::MuxOptions mux_options(const CaptureOptions& options) {
  return {.fsync_period = options.framing == CaptureFraming::kFsync ? options.fsync_period : 0};
}

std::string_view device_stem(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEte:
      return "ETE";
    case Protocol::kPtm:
      return "PTM";
    case Protocol::kStm:
      return "STM";
    case Protocol::kItm:
      return "ITM";
    case Protocol::kMtb:
      return "MTB";
    default:
      return "ETM";
  }
}

inputs::Dump dump_of(const Segment& segment, std::size_t number) {
  inputs::Dump dump{.section = fmt::format("dump{}", number), .address = segment.address};
  if (segment.origin.file.empty()) {
    dump.file = CaptureMaker::memory_file(number);
    return dump;
  }
  dump.file = CaptureMaker::program_file(segment.origin.file);
  dump.length = segment.bytes.size();
  dump.offset = segment.origin.offset;
  return dump;
}

}  // namespace

Result<CaptureMaker> CaptureMaker::create(const CaptureOptions& options,
                                          std::vector<std::unique_ptr<TraceUnit>> units) {
  const auto refuse = [](std::string detail) {
    return fail(ErrorCode::kInvalidArgument, std::move(detail));
  };
  if (units.empty()) return refuse("A capture needs at least one trace source.");
  if (units.size() > 1 && options.framing == CaptureFraming::kNone)
    return refuse("Without frames a capture has one source; use frames for more.");
  if (options.interleave == 0) return refuse("Sources cannot be interleaved by 0 bytes.");
  if (options.framing == CaptureFraming::kFsync && options.fsync_period == 0)
    return refuse("Frame syncs need a period of at least 1 frame.");
  std::bitset<kTraceIdCount> ids;
  for (const auto& unit : units) {
    if (is_mtb(unit->options().protocol) && options.framing != CaptureFraming::kNone)
      return refuse("An MTB writes no frames; make a capture of it alone and without frames.");
    const TraceId id = unit->options().trace_id;
    if (ids[id]) return refuse(fmt::format("Two sources have the trace ID {:#04x}.", id));
    ids[id] = true;
  }
  return CaptureMaker(options, std::move(units));
}

CaptureMaker::CaptureMaker(const CaptureOptions& options,
                           std::vector<std::unique_ptr<TraceUnit>> units)
    : options_(options),
      units_(std::move(units)),
      random_(options.seed ^ 0x5EED),
      mux_(mux_options(options)),
      pending_(units_.size()),
      used_(units_.size()) {
  until_change_ = wait(options_.damage.change_mean, random_);
  until_drop_ = wait(options_.damage.drop_mean, random_);
}

std::optional<frames::Options> CaptureMaker::frame_options() const {
  if (options_.framing == CaptureFraming::kNone) return std::nullopt;
  return mux_options(options_).demux_options();
}

// Each unit runs well ahead of the frames, so that changing between units costs little.
void CaptureMaker::produce() {
  constexpr std::size_t kAhead = std::size_t{16} << 10;
  while (mux_.bytes().size() < kBlockSize && produced_ + mux_.bytes().size() < options_.size) {
    if (turn_left_ == 0) {
      turn_left_ = kAhead;
      if (units_.size() > 1) {
        turn_ = random_.below(static_cast<std::uint32_t>(units_.size()));
        turn_left_ = random_.about(options_.interleave);
      }
    }
    const std::size_t unit = turn_;
    std::vector<std::uint8_t>& bytes = pending_[unit];
    std::size_t& used = used_[unit];
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(turn_left_, kBlockSize));
    if (bytes.size() - used < count) {
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used));
      used = 0;
      units_[unit]->run(bytes, std::max(kAhead, count));
    }
    const std::size_t taken = std::min(count, bytes.size() - used);
    (void)mux_.write(units_[unit]->options().trace_id, Bytes(bytes).subspan(used, taken));
    used += taken;
    turn_left_ = taken < count ? 0 : turn_left_ - taken;
    if (taken < count && stopped()) return;
  }
}

bool CaptureMaker::stopped() const {
  return std::ranges::all_of(units_, [](const auto& unit) { return unit->exhausted(); });
}

Bytes CaptureMaker::next() {
  block_.clear();
  if (ended_) return {};
  const bool framed = options_.framing != CaptureFraming::kNone;
  if (framed) {
    produce();
    block_ = mux_.take();
  } else {
    units_.front()->run(block_, static_cast<std::size_t>(std::min<std::uint64_t>(
                                    kBlockSize, options_.size - produced_)));
  }
  produced_ += block_.size();
  if (produced_ >= options_.size || stopped()) {
    ended_ = true;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!framed) {
        units_[i]->finish(block_);
        continue;
      }
      pending_[i].erase(pending_[i].begin(),
                        pending_[i].begin() + static_cast<std::ptrdiff_t>(used_[i]));
      units_[i]->finish(pending_[i]);
      (void)mux_.write(units_[i]->options().trace_id, pending_[i]);
    }
    if (framed) {
      mux_.finish();
      const std::vector<std::uint8_t> rest = mux_.take();
      block_.insert(block_.end(), rest.begin(), rest.end());
    }
  }
  if (options_.damage.any()) harm();
  made_ += block_.size();
  return block_;
}

void CaptureMaker::harm() {
  for (std::size_t at = 0; until_change_ != kNever;) {
    if (block_.size() - at <= until_change_) {
      until_change_ -= block_.size() - at;
      break;
    }
    at += in_memory(until_change_);
    block_[at] = static_cast<std::uint8_t>(random_.next());
    until_change_ = random_.about(options_.damage.change_mean);
  }
  // Readers of memory-aligned frames cannot find a lost frame boundary, so whole frames are lost.
  const std::size_t unit =
      options_.framing == CaptureFraming::kMemoryAligned ? frames::kFrameSize : 1;
  for (std::size_t at = 0; until_drop_ != kNever;) {
    if (block_.size() - at <= until_drop_) {
      until_drop_ -= block_.size() - at;
      break;
    }
    at += in_memory(until_drop_);
    const std::size_t first = at / unit * unit;
    const std::size_t last =
        std::min(first + unit * random_.between(1, 40), block_.size() / unit * unit);
    if (last > first)
      block_.erase(block_.begin() + static_cast<std::ptrdiff_t>(first),
                   block_.begin() + static_cast<std::ptrdiff_t>(last));
    at = first;
    until_drop_ = random_.about(options_.damage.drop_mean);
  }
  if (ended_ && options_.damage.cut)
    block_.erase(block_.end() - static_cast<std::ptrdiff_t>(
                                    std::min<std::size_t>(block_.size(), random_.between(1, 80))),
                 block_.end());
}

std::string CaptureMaker::memory_file(std::size_t segment) {
  return fmt::format("memory_{}.bin", segment);
}

std::string CaptureMaker::program_file(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  // These end a name in an ini file, or are removed from its ends.
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7F' ||
           std::string_view(";#[]=\"'\\").find(c) != std::string_view::npos;
  };
  const bool fits = !name.empty() && std::ranges::none_of(name, is_odd) && name.front() != ' ' &&
                    name.back() != ' ';
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  const bool taken = is_one_of({".", "..", "trace.bin", "truth", "perf.data"}) ||
                     name.ends_with(".ini") || name.starts_with("memory_") ||
                     name.starts_with("jit-");
  return fits && !taken ? name : "program.elf";
}

std::string CaptureMaker::device_name(std::size_t unit) const {
  return fmt::format("{}_{}", device_stem(units_[unit]->options().protocol), unit);
}

inputs::Snapshot CaptureMaker::snapshot(const Program* program,
                                        const std::string& trace_file) const {
  inputs::Snapshot snapshot;
  snapshot.description = fmt::format("Made by waymark synth, seed {}", options_.seed);
  snapshot.buffers.push_back(
      {.section = "buffer0",
       .name = "ETB_0",
       .file = trace_file,
       .format = std::string(inputs::buffer_format_name(format_of(options_.framing)))});
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const TraceUnit& unit = *units_[i];
    inputs::Device device{.file = device_name(i) + ".ini",
                          .name = device_name(i),
                          .class_name = "trace_source",
                          .type = unit.type()};
    for (const UnitRegister& reg : unit.registers())
      device.registers.push_back({std::string(reg.name), fmt::format("{:#010x}", reg.value), 0});
    snapshot.source_buffers.push_back({device.name, "ETB_0", 0});
    if (!unit.core().empty()) {
      inputs::Device core{.file = fmt::format("cpu_{}.ini", i),
                          .name = fmt::format("cpu_{}", i),
                          .class_name = "core",
                          .type = unit.core()};
      for (std::size_t s = 0; program != nullptr && s < program->segments().size(); ++s)
        core.dumps.push_back(dump_of(program->segments()[s], s));
      snapshot.core_trace_sources.push_back({device.name, core.name, 0});
      snapshot.devices.push_back(std::move(core));
    }
    snapshot.devices.push_back(std::move(device));
  }
  return snapshot;
}

}  // namespace waymark::synth
