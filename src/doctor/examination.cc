#include "waymark/doctor/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>

#include "waymark/frames/demux.h"
#include "waymark/frames/dstream.h"
#include "waymark/inputs/debugger_text.h"
#include "waymark/inputs/detect.h"
#include "waymark/inputs/memory_records.h"

namespace waymark::doctor {
namespace {

using inputs::Framing;
using inputs::InputKind;
using Stream = std::vector<std::uint8_t>;

/// The bytes of each ID in one way of reading the file.
struct Split {
  std::array<Stream, kTraceIdCount> streams{};
  std::uint64_t skipped = 0;
  std::uint64_t header = 0;
  std::uint64_t unknown = 0;  ///< Before the first ID byte.
  std::uint64_t all = 0;      ///< Data bytes of all IDs.
};

void take_frames(Bytes content, const frames::Options& options, Split& split) {
  frames::Demux demux(options);
  const Bytes whole = content.first(content.size() / options.alignment() * options.alignment());
  if (whole.empty() || !demux.feed(0, whole)) return;
  bool first = true;
  for (frames::Step step = demux.step(); step != frames::Step::kNeedInput; step = demux.step()) {
    if (step == frames::Step::kError) demux.resync();
    if (step == frames::Step::kSkipped) {
      (first ? split.header : split.skipped) += demux.error().lost;
      first = false;
    }
    if (step != frames::Step::kFrame) continue;
    first = false;
    for (const frames::Segment& segment : demux.frame().view()) {
      split.all += segment.size;
      if (segment.id >= kTraceIdCount) {
        split.unknown += segment.size;
        continue;
      }
      Stream& stream = split.streams[segment.id];
      stream.insert(stream.end(), segment.data.begin(), segment.data.begin() + segment.size);
    }
  }
  split.skipped += demux.held();
}

Stream payload_of_records(Bytes content) {
  Stream payload;
  payload.reserve(content.size());
  frames::DstreamReader reader(content);
  while (const auto record = reader.next())
    payload.insert(payload.end(), record->payload.begin(), record->payload.end());
  return payload;
}

Stream joined(Bytes content, const std::vector<frames::FramePiece>& pieces) {
  Stream bytes;
  for (const frames::FramePiece& piece : pieces) {
    const Bytes part = content.subspan(piece.offset, piece.size);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

std::uint64_t count_syncs(Bytes content) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + frames::kFsyncBytes.size() <= content.size(); ++at)
    if (frames::is_fsync(content.data() + at)) ++count;
  return count;
}

/// One way of reading, with all that it gives.
struct Reading {
  FramingFound found{};
  std::vector<StreamFound> streams{};
  std::uint64_t padding = 0;
  std::uint64_t stray = 0;
};

/// Sources have at least this share of the bytes, and this many bytes.
constexpr std::uint64_t kLeastShare = 2000;
constexpr std::uint64_t kLeastBytes = 32;

bool is_source_size(std::uint64_t size, std::uint64_t all) {
  return size >= kLeastBytes && size * kLeastShare >= all;
}

Reading reading_of(Split& split, FramingFound found, std::uint64_t size) {
  Reading reading{.found = std::move(found)};
  double explained = 0;
  std::uint64_t sources = split.unknown;
  for (unsigned id = 0; id < kTraceIdCount; ++id) {
    Stream& stream = split.streams[id];
    if (stream.empty()) continue;
    if (!is_source_id(static_cast<TraceId>(id))) {
      reading.padding += stream.size();
      continue;
    }
    sources += stream.size();
    if (!is_source_size(stream.size(), split.all)) {
      reading.stray += stream.size();
      continue;
    }
    StreamFound one{.id = static_cast<TraceId>(id), .bytes = stream.size()};
    one.verdict = judge(stream, true);
    explained += one.verdict.trial.score() * static_cast<double>(stream.size());
    reading.streams.push_back(std::move(one));
    Stream().swap(stream);
  }
  reading.found.header += split.header;
  reading.found.skipped += split.skipped;
  const double lost =
      size == 0 ? 0 : static_cast<double>(reading.found.skipped) / static_cast<double>(size);
  reading.found.score =
      sources == 0 ? 0 : explained / static_cast<double>(sources) * std::max(0.0, 1 - lost);
  return reading;
}

/// Few bytes of other streams, read as frames, name few sources.
bool names_few_sources(const Split& split) {
  constexpr std::size_t kMostSources = 24;
  std::size_t sources = 0;
  std::uint64_t reserved = 0;
  for (unsigned id = 0; id < kTraceIdCount; ++id) {
    const std::size_t size = split.streams[id].size();
    if (is_source_id(static_cast<TraceId>(id)) && is_source_size(size, split.all)) ++sources;
    if (id >= 0x70 && id != 0x7B && id != 0x7D) reserved += size;
  }
  return sources != 0 && sources <= kMostSources && reserved * 20 <= split.all;
}

class Examiner {
 public:
  explicit Examiner(Bytes content) : content_(content) {}

  std::vector<Reading> run() {
    read_plain();
    read_aligned();
    const std::uint64_t syncs = count_syncs(content_);
    constexpr std::uint64_t kLeastSyncs = 2;
    if (syncs >= kLeastSyncs) {
      read_synced(content_, Framing::kFsync, syncs);
      read_synced(content_, Framing::kHsync, syncs);
      if (content_.size() >= 2 * frames::kDstreamRecordSize) {
        const Stream payload = payload_of_records(content_);
        read_synced(payload, Framing::kDstream, count_syncs(payload));
      }
    }
    // Of equal ones, the first was the simplest.
    std::ranges::stable_sort(readings_, std::greater{},
                             [](const Reading& reading) { return reading.found.score; });
    return std::move(readings_);
  }

 private:
  void read_plain() {
    Reading reading{.found = {.framing = Framing::kNone}};
    StreamFound one{.id = 0, .bytes = content_.size(), .verdict = judge(content_, false)};
    reading.found.score = one.verdict.trial.score();
    if (one.verdict.protocol == "mtb") reading.found.score = 1;
    reading.streams.push_back(std::move(one));
    readings_.push_back(std::move(reading));
  }

  void read_aligned() {
    if (content_.size() < frames::kFrameSize) return;
    FramingFound found{.framing = Framing::kMemoryAligned};
    Split split;
    const frames::Options options = *inputs::frame_options(Framing::kMemoryAligned);
    if (frames::is_aligned(content_)) {
      take_frames(content_, options, split);
    } else {
      const frames::FrameAlignment alignment = frames::align(content_);
      if (!alignment.plausible()) return;
      found.pieces = alignment.pieces;
      found.header = found.pieces.front().offset;
      const frames::FramePiece& last = found.pieces.back();
      const std::uint64_t tail = content_.size() - last.offset - last.size;
      found.skipped = alignment.left_out(content_.size()) - found.header - tail;
      for (const frames::FramePiece& piece : found.pieces)
        take_frames(content_.subspan(piece.offset, piece.size), options, split);
    }
    if (names_few_sources(split))
      readings_.push_back(reading_of(split, std::move(found), content_.size()));
  }

  void read_synced(Bytes content, Framing framing, std::uint64_t syncs) {
    FramingFound found{.framing = framing, .syncs = syncs};
    Split split;
    take_frames(content, *inputs::frame_options(framing), split);
    if (names_few_sources(split))
      readings_.push_back(reading_of(split, std::move(found), content.size()));
  }

  Bytes content_;
  std::vector<Reading> readings_;
};

/// By the best protocol in it, and how close the next way of reading comes.
void set_confidence(std::vector<Reading>& readings) {
  for (Reading& reading : readings) {
    Confidence best = Confidence::kNone;
    for (const StreamFound& stream : reading.streams)
      best = std::max(best, stream.verdict.confidence);
    reading.found.confidence = best;
  }
  if (readings.size() < 2) return;
  constexpr double kClear = 0.8;
  Reading& first = readings.front();
  const double second = readings[1].found.score;
  // Without half syncs, both ways of reading syncs are the same.
  const bool same =
      first.found.syncs != 0 && readings[1].found.syncs != 0 && first.found.score == second;
  if (!same && second > kClear * first.found.score)
    first.found.confidence = std::min(first.found.confidence, Confidence::kLikely);
  for (std::size_t i = 1; i < readings.size(); ++i)
    readings[i].found.confidence = std::min(readings[i].found.confidence, Confidence::kGuess);
}

/// The memory that the text shows: its largest block.
Result<Stream> memory_of_text(Bytes content, InputKind kind) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  std::vector<inputs::MemoryBlock> blocks;
  if (kind == InputKind::kDebuggerText) {
    auto shown = inputs::read_debugger_text(text);
    if (!shown) return std::unexpected(shown.error());
    blocks = std::move(shown->blocks);
  } else {
    auto records =
        kind == InputKind::kIntelHex ? inputs::read_intel_hex(text) : inputs::read_s_records(text);
    if (!records) return std::unexpected(records.error());
    blocks = std::move(records->blocks);
  }
  if (blocks.empty())
    return fail(ErrorCode::kBadData, "The text shows no memory; give the trace buffer.");
  return std::move(std::ranges::max_element(blocks, std::less{}, [](const auto& block) {
                     return block.bytes.size();
                   })->bytes);
}

Result<Examination> examine_bytes(Bytes content) {
  if (content.empty())
    return fail(ErrorCode::kBadData,
                "It is empty: nothing was captured. Check that the trace source was enabled and "
                "the sink was read after it stopped.");
  if (std::ranges::adjacent_find(content, std::not_equal_to{}) == content.end())
    return fail(ErrorCode::kBadData,
                fmt::format("All its bytes are 0x{:02x}: no trace was captured. Check that the "
                            "trace source was enabled and the right memory was read.",
                            content.front()));
  Examination result{.size = content.size()};
  content = content.first(std::min(content.size(), kExaminedBytes));
  result.examined = content.size();
  std::vector<Reading> readings = Examiner(content).run();
  set_confidence(readings);
  result.framing = readings.front().found;
  result.streams = std::move(readings.front().streams);
  result.padding = readings.front().padding;
  result.stray = readings.front().stray;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    constexpr double kWorthNaming = 0.3;
    if (readings[i].found.score >= kWorthNaming * result.framing.score &&
        readings[i].found.score > 0)
      result.others.push_back(std::move(readings[i].found));
  }
  if (const auto options = inputs::frame_options(result.framing.framing)) {
    const std::uint64_t end = result.framing.pieces.empty() ? 0
                                                            : result.framing.pieces.back().offset +
                                                                  result.framing.pieces.back().size;
    result.tail = (result.size - end) % options->alignment();
    if (result.framing.framing == Framing::kDstream) result.tail = 0;
  }
  return result;
}

}  // namespace

Result<Examination> examine(Bytes content) {
  const InputKind kind = inputs::detect(content).kind;
  if (!inputs::is_memory_text(kind)) return examine_bytes(content);
  const auto memory = memory_of_text(content, kind);
  if (!memory) return std::unexpected(memory.error());
  auto result = examine_bytes(*memory);
  if (result) result->wrapping = Wrapping::kText;
  return result;
}

Result<std::vector<std::uint8_t>> trace_of(Bytes content, const Examination& examination,
                                           const std::function<bool()>& stop) {
  Stream memory;
  if (examination.wrapping == Wrapping::kText) {
    auto shown = memory_of_text(content, inputs::detect(content).kind);
    if (!shown) return std::unexpected(shown.error());
    memory = *std::move(shown);
    content = memory;
  }
  if (examination.framing.framing == Framing::kDstream) return payload_of_records(content);
  if (!examination.framing.pieces.empty()) {
    std::vector<frames::FramePiece> pieces = examination.framing.pieces;
    // They are those of the part that was read.
    if (examination.size != examination.examined) {
      pieces = frames::align(content, stop).pieces;
      if (stop && stop()) return fail(ErrorCode::kLimit, "The search for frames was interrupted.");
    }
    return joined(content, pieces);
  }
  return Stream(content.begin(), content.end());
}

}  // namespace waymark::doctor
