#include "waymark/frames/splitter.h"

#include <algorithm>

#include "unpack_inl.h"

namespace waymark::frames {
namespace {

constexpr std::size_t kMaxBatch = 1024;  // Frames for which memory is reserved at a time.

}  // namespace

IdSet source_ids() {
  IdSet ids;
  for (TraceId id = 0; id < kTraceIdCount; ++id) ids[id] = is_source_id(id);
  return ids;
}

Step StreamSplitter::step() {
  for (;;) {
    const bool frames_only = demux_.options_.memory_aligned && !demux_.options_.reset_on_4x_fsync &&
                             demux_.monitor_ == nullptr;
    if (frames_only && !demux_.framing_.failed) split_frames();
    const Step step = demux_.advance();
    if (step != Step::kFrame) return step;
    split_frame(demux_.frame_at_, demux_.frame_index_);
  }
}

// Memory-aligned frames and nothing else: handles the whole block.
void StreamSplitter::split_frames() {
  while (demux_.block_.left() != 0) {
    const TraceId id = demux_.current_id_;
    const bool kept = id < kTraceIdCount && wanted_[id];
    const std::size_t plain =
        kept ? demux_.take_plain_frames(streams_[id], kMaxBatch) : pass_plain_frames();
    bytes_of_[id] += plain * kPlainFrameBytes;
    if (demux_.block_.left() == 0) break;
    if (plain == kMaxBatch) continue;
    split_frame(demux_.block_.at(), demux_.block_.index());
    demux_.block_.pos += kFrameSize;
  }
  demux_.block_.begin_pass();
  demux_.move_boundary();
}

void StreamSplitter::split_frame(const std::uint8_t* frame, TraceIndex index) {
  demux_.statistics_.frame_bytes += take_apart(
      frame, demux_.current_id_, [&](unsigned offset, TraceId id, Data data, unsigned size) {
        bytes_of_[id] += size;
        if (size == 0 || id >= kTraceIdCount || !wanted_[id]) return;
        StreamBuffer& stream = streams_[id];
        store_data(stream.room(kFrameSize), data);
        stream.finish_run(index + offset, size);
      });
}

// Skips the frames without ID bytes at the current position, and returns their number.
std::size_t StreamSplitter::pass_plain_frames() {
  const std::uint8_t* at = demux_.block_.at();
  const std::size_t count = demux_.block_.left() / kFrameSize;
  std::size_t frames = 0;
  while (frames < count &&
         ((load_le<std::uint64_t>(at) | load_le<std::uint64_t>(at + 8)) & kIdBits) == 0) {
    ++frames;
    at += kFrameSize;
  }
  demux_.block_.pos += frames * kFrameSize;
  demux_.statistics_.frame_bytes += frames;
  return frames;
}

IdSet StreamSplitter::seen() const {
  IdSet ids;
  for (TraceId id = 0; id < kTraceIdCount; ++id) ids[id] = bytes_of_[id] != 0;
  return ids;
}

Statistics StreamSplitter::statistics(const IdSet& attached) const {
  Statistics counts = demux_.statistics_;
  for (TraceId id = 0; id < kTraceIdCount; ++id) counts.count(id, bytes_of_[id], attached[id]);
  counts.count(kNoTraceId, bytes_of_[kNoTraceId], false);
  return counts;
}

}  // namespace waymark::frames
