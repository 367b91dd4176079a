// Notes on the bytes of the trace before they are decoded.
#include <fmt/format.h>

#include <algorithm>

#include "capture_builder.h"
#include "detect_itm.h"
#include "waymark/base/plural.h"
#include "waymark/frames/splitter.h"
#include "waymark/inputs/detect.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/stm/nibble_order.h"

namespace waymark::inputs {

// A stream without synchronisation packets would otherwise give nothing, and many probes capture
// SWO like this.
Result<void> CaptureBuilder::look_for_itm_sync() {
  if (capture_.framing_ != Framing::kNone || options_.source.starts_in_sync) return {};
  constexpr std::size_t kPart = std::size_t{1} << 20;
  constexpr std::size_t kSyncSize = 6;
  const Bytes bytes = capture_.trace_.bytes();
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    WAYMARK_TRY(go_on());
    capture_.trace_.passed(at);
    // The next part begins before this one ends, so that no synchronisation is split.
    if (find_itm_sync(bytes.subspan(at, std::min(kPart + kSyncSize - 1, bytes.size() - at))))
      return {};
  }
  // A live source may still send one, unless its bytes were recognised without any.
  const bool is_open = options_.live != nullptr && !options_.live->ended() &&
                       bytes.size() < kDetectWindow && capture_.kind_ != InputKind::kItmStream;
  if (is_open) {
    note(fmt::format("{}: there is no synchronisation packet yet; decoding begins with the first "
                     "one. --assume-sync decodes from the first byte.",
                     trace_name(capture_)),
         Severity::kInfo);
    return {};
  }
  options_.source.starts_in_sync = true;
  note(fmt::format(
           "{}: there is no synchronisation packet (SYNCENA of ITM_TCR), so decoding assumes "
           "that the first byte begins a packet.",
           trace_name(capture_)),
       Severity::kInfo);
  return {};
}

// Before the first packet is read, as a later finding cannot correct earlier packets.
Result<std::optional<bool>> CaptureBuilder::look_for_nibble_order(TraceId id) {
  const bool framed = capture_.framing_ != Framing::kNone;
  const auto found = framed ? order_in_frames(id) : order_in_trace();
  if (!found) return std::unexpected(found.error());
  const std::optional<stm::NibbleOrder>& order = *found;
  if (!order) return std::nullopt;
  const bool least_first = *order == stm::NibbleOrder::kLeastFirst;
  if (least_first) {
    const std::string of_id = framed ? fmt::format(" of trace ID 0x{:02x}", id) : std::string();
    note(fmt::format("{}: fields{} begin with the least significant nibble, as MIPI's simulator "
                     "and Zephyr write them and hardware does not (--nibble-order).",
                     trace_name(capture_), of_id),
         Severity::kInfo);
  }
  return least_first;
}

Result<std::optional<stm::NibbleOrder>> CaptureBuilder::order_in_trace() {
  stm::OrderSearch search;
  bool found = false;
  while (const auto block = found ? std::nullopt : capture_.next_block()) {
    WAYMARK_TRY(go_on());
    const frames::Run run{.position = 0, .index = block->index, .whole_frames = false};
    found = search.look({block->bytes, {&run, 1}});
  }
  capture_.seek(0);
  return search.order();
}

Result<std::optional<stm::NibbleOrder>> CaptureBuilder::order_in_frames(TraceId id) {
  const auto options = frame_options(capture_.framing_);
  if (!options || !is_source_id(id)) return std::nullopt;
  frames::StreamSplitter splitter(*options, frames::IdSet().set(id));
  stm::OrderSearch search;
  bool found = false;
  while (const auto block = found ? std::nullopt : capture_.next_block()) {
    WAYMARK_TRY(go_on());
    if (!splitter.feed(block->index, block->bytes)) break;
    frames::Step step{};
    do {
      step = splitter.step();
      if (step == frames::Step::kError) splitter.resync();
      found = search.look(splitter.stream(id).block());
      splitter.stream(id).clear();
    } while (step != frames::Step::kNeedInput && !found);
  }
  capture_.seek(0);
  return search.order();
}

Result<void> CaptureBuilder::count_id_bytes() {
  const auto options = frame_options(capture_.framing_);
  if (!options) return {};
  if (options_.known_id_bytes) {
    if (const auto known = options_.known_id_bytes(capture_.trace_, capture_.framing_)) {
      capture_.id_bytes_ = *known;
      return {};
    }
  }
  frames::StreamSplitter counter(*options, frames::IdSet());
  while (const auto block = capture_.next_block()) {
    WAYMARK_TRY(go_on());
    if (!counter.feed(block->index, block->bytes)) break;
    for (frames::Step step = counter.step(); step != frames::Step::kNeedInput;
         step = counter.step())
      if (step == frames::Step::kError) counter.resync();
  }
  for (TraceId id = 0; id < kTraceIdCount; ++id) capture_.id_bytes_[id] = counter.bytes(id);
  capture_.seek(0);
  return {};
}

void CaptureBuilder::note_lost_tail() {
  const auto options = frame_options(capture_.framing_);
  if (!options || options_.live != nullptr) return;
  std::size_t size = capture_.trace_.size();
  // The last record of DSTREAM may be cut; nothing is lost in its footer.
  if (capture_.framing_ == Framing::kDstream)
    size = std::min(size % frames::kDstreamRecordSize, frames::kDstreamPayloadSize);
  const std::size_t rest = size % options->alignment();
  if (rest == 0) return;
  if (capture_.framing_ == Framing::kDstream) {
    note(fmt::format(
        "{}: the last record ends with {}, not a multiple of {}; the last {} of them {} "
        "ignored.",
        trace_name(capture_), counted(size, "byte"), options->alignment(), rest,
        one_or(rest, "is", "are")));
    return;
  }
  note(
      fmt::format("{}: {}, not a multiple of {}; the last {} of them {} ignored. If the trace has "
                  "no frames, use --framing none.",
                  trace_name(capture_), counted(size, "byte"), options->alignment(), rest,
                  one_or(rest, "is", "are")));
}

void CaptureBuilder::note_ids_without_source() {
  if (!capture_.tree_->formatted() || !options_.ids.empty() || is_part_) return;
  std::vector<TraceId> ids;
  std::uint64_t bytes = 0;
  for (TraceId id = 1; id < 0x70; ++id) {
    if (capture_.id_bytes_[id] == 0 || capture_.tree_->source(id) != nullptr) continue;
    ids.push_back(id);
    bytes += capture_.id_bytes_[id];
  }
  constexpr std::size_t kMaxNotes = 8;  // Damage is more frequent than systems with more sources.
  if (ids.size() > kMaxNotes) {
    note(
        fmt::format("{} trace IDs from 0x{:02x} to 0x{:02x} have {} in total but no source that "
                    "can be decoded. This many IDs mean that part of the trace is damaged or was "
                    "never written.",
                    ids.size(), ids.front(), ids.back(), counted(bytes, "byte")));
    return;
  }
  for (const TraceId id : ids) {
    note(fmt::format("Trace ID 0x{:02x} has {} but no source that can be decoded; {}.", id,
                     counted(capture_.id_bytes_[id], "byte"),
                     capture_.snapshot_ == nullptr ? "see --id"
                                                   : "the trace is damaged there, or no device ini "
                                                     "file has this ID in its TRACEIDR register"));
  }
}

}  // namespace waymark::inputs
