#include "waymark/inputs/capture.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture_builder.h"
#include "perf_input.h"
#include "trace_feed.h"

namespace waymark::inputs {
namespace {

// A multiple of every frame alignment.
constexpr std::size_t kBlockSize = std::size_t{256} << 10;

struct FramingName {
  Framing framing;
  std::string_view name;
};
constexpr FramingName kFramings[] = {
    {Framing::kNone, "none"},   {Framing::kMemoryAligned, "mem"}, {Framing::kFsync, "fsync"},
    {Framing::kHsync, "hsync"}, {Framing::kDstream, "dstream"},   {Framing::kPieces, "pieces"}};

}  // namespace

ExceptionNumbers exception_numbers(const CaptureSource& source) {
  const bool microcontroller = source.profile == isa::Profile::kM;
  switch (source.source->protocol()) {
    case Protocol::kEtmV4:
    case Protocol::kEte:
      return microcontroller ? ExceptionNumbers::kEtmV4M : ExceptionNumbers::kEtmV4;
    case Protocol::kPtm:
      return ExceptionNumbers::kV7;
    case Protocol::kEtmV3:
      return microcontroller ? ExceptionNumbers::kEtmV3M : ExceptionNumbers::kV7;
    case Protocol::kMtb:
    case Protocol::kItm:
      return ExceptionNumbers::kIpsr;
    default:
      return ExceptionNumbers::kNone;
  }
}

std::string_view framing_name(Framing framing) {
  return kFramings[static_cast<std::size_t>(framing)].name;
}

std::optional<Framing> framing_by_name(std::string_view name) {
  const auto* row = std::ranges::find(kFramings, name, &FramingName::name);
  if (row == std::end(kFramings)) return std::nullopt;
  return row->framing;
}

std::optional<frames::Options> frame_options(Framing framing) {
  frames::Options options;
  options.reset_on_4x_fsync = framing == Framing::kPieces;
  options.memory_aligned = framing == Framing::kMemoryAligned || options.reset_on_4x_fsync;
  options.has_fsyncs = !options.memory_aligned;
  options.has_hsyncs = framing == Framing::kHsync;
  if (framing == Framing::kNone) return std::nullopt;
  return options;
}

std::uint64_t trace_bytes(Framing framing, std::uint64_t file_size) {
  const auto options = frame_options(framing);
  const std::size_t alignment = options ? options->alignment() : 1;
  std::uint64_t size = file_size;
  if (framing == Framing::kDstream) {
    const std::uint64_t records = size / frames::kDstreamRecordSize;
    const std::uint64_t rest =
        std::min<std::uint64_t>(size % frames::kDstreamRecordSize, frames::kDstreamPayloadSize);
    size = records * frames::kDstreamPayloadSize + rest;
  }
  return size / alignment * alignment;
}

Capture::Capture() = default;
Capture::Capture(Capture&& other) noexcept = default;
Capture& Capture::operator=(Capture&& other) noexcept = default;
Capture::~Capture() = default;

Result<Capture> Capture::open(const std::string& path, const CaptureOptions& options) {
  return CaptureBuilder(path, options).build();
}

const perf::Recording* Capture::recording() const {
  return perf_ == nullptr ? nullptr : &perf_->recording;
}
TimeSource Capture::time_source() const {
  return perf_ == nullptr ? TimeSource::kAuxRecords : perf_->times;
}

const perf::ProcessImages* Capture::processes() const {
  return perf_ == nullptr ? nullptr : perf_->processes.get();
}
const perf::ProgramFiles* Capture::programs() const {
  return perf_ == nullptr ? nullptr : perf_->programs.get();
}

const perf::JittedCode* Capture::jitted_code() const {
  return perf_ == nullptr ? nullptr : &perf_->jitted;
}

std::string Capture::image_fault() const {
  bool needed = false;
  for (const CaptureSource& source : sources_) {
    if (!source.image_fault.empty())
      return "the program image is incomplete: " + source.image_fault;
    needed |= source.needs_image;
  }
  if (!needed || !image_->regions().empty() || image_->selector() != nullptr) return {};
  return "there is no program image; name the program with --elf, or its memory with --image.";
}

std::vector<std::string> Capture::input_files() const {
  std::vector<std::string> files{trace_.path()};
  for (const image::RegionInfo& region : image_->regions()) {
    // Records of a file are a buffer of its name.
    if (region.kind != image::RegionKind::kCallback && !region.name.empty())
      files.push_back(region.name);
  }
  if (perf_ != nullptr) {
    for (std::string& file : perf_->programs->found()) files.push_back(std::move(file));
  }
  if (snapshot_ == nullptr) return files;
  for (std::string& file : snapshot_->files()) files.push_back(std::move(file));
  return files;
}

bool Capture::live() const { return reading_.feed != nullptr && reading_.feed->live(); }

void Capture::released() const {
  if (reading_.feed != nullptr) reading_.feed->released();
}

void Capture::add_late_sources() {
  if (reading_.late == nullptr) return;
  for (CaptureSource& source : *reading_.late) {
    const auto place = std::ranges::lower_bound(sources_, source.id, {}, &CaptureSource::id);
    sources_.insert(place, std::move(source));
  }
  reading_.late->clear();
}

Result<std::optional<TraceEvent>> Capture::next_event() {
  // Lines that wait are written after this time; docs/howto/live.md.
  constexpr live::Milliseconds kPatience{20};
  if (reading_.feed == nullptr) {
    const auto block = next_block();
    if (!block) return std::nullopt;
    return TraceEvent{.block = *block};
  }
  add_late_sources();
  auto event = reading_.feed->next(kPatience);
  if (event && *event && !live()) trace_.passed((*event)->block.index);
  return event;
}

std::optional<TraceBlock> Capture::next_block() {
  while (reading_.feed != nullptr) {
    const auto event = next_event();
    if (!event || !*event) return std::nullopt;
    if ((*event)->kind == TraceEvent::Kind::kBlock) return (*event)->block;
  }
  if (framing_ != Framing::kDstream) {
    auto block = rest();
    if (!block) return std::nullopt;
    // The caller has used each block before it asks for the next one.
    trace_.passed(block->index);
    block->bytes = block->bytes.first(std::min(kBlockSize, block->bytes.size()));
    reading_.position += block->bytes.size();
    return block;
  }
  if (reading_.position >= trace_bytes()) return std::nullopt;
  const TraceIndex index = reading_.position;
  const std::uint64_t record = index / frames::kDstreamPayloadSize;
  const std::uint64_t inside = index % frames::kDstreamPayloadSize;
  const auto size = static_cast<std::size_t>(
      std::min<std::uint64_t>(frames::kDstreamPayloadSize - inside, trace_bytes() - index));
  reading_.position += size;
  return TraceBlock{
      index, trace_.bytes().subspan(in_memory(record * frames::kDstreamRecordSize + inside), size)};
}

std::optional<TraceBlock> Capture::rest() const {
  if (framing_ == Framing::kDstream || reading_.feed != nullptr ||
      reading_.position >= trace_bytes())
    return std::nullopt;
  return TraceBlock{reading_.position,
                    trace_.bytes().subspan(in_memory(reading_.position),
                                           in_memory(trace_bytes() - reading_.position))};
}

void Capture::seek(TraceIndex index) {
  reading_.position = std::min(index, trace_bytes());
  if (reading_.feed != nullptr && !live()) reading_.feed->seek(reading_.position);
}

std::uint64_t Capture::trace_bytes() const {
  if (live()) return reading_.feed->position();
  return inputs::trace_bytes(framing_, trace_.size());
}

}  // namespace waymark::inputs
