#include "waymark/frames/splitter.h"

#include <algorithm>

#include "unpack_inl.h"

namespace waymark::frames {
namespace {

constexpr std::size_t kMaxBatch = 1024;  // Frames that memory is asked for at once.

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
    if (frames_only && !demux_.failed_) split_frames();
    const Step step = demux_.advance();
    if (step != Step::kFrame) return step;
    split_frame(demux_.frame_at_, demux_.frame_index_);
  }
}

// Memory-aligned frames without anything else: the whole block.
void StreamSplitter::split_frames() {
  const std::uint8_t* at = demux_.block_.data() + demux_.pos_;
  std::size_t left = (demux_.block_.size() - demux_.pos_) / kFrameSize;
  TraceIndex index = demux_.base_ + demux_.pos_;
  while (left != 0) {
    const std::size_t plain = split_plain_frames(at, std::min(left, kMaxBatch), index);
    at += plain * kFrameSize;
    index += plain * kFrameSize;
    left -= plain;
    if (left == 0) break;
    split_frame(at, index);
    at += kFrameSize;
    index += kFrameSize;
    --left;
  }
  demux_.pos_ = demux_.pass_ = demux_.block_.size();
  demux_.boundary_ = index;
}

void StreamSplitter::split_frame(const std::uint8_t* frame, TraceIndex index) {
  demux_.statistics_.frame_bytes += take_apart(
      frame, demux_.current_id_, [&](unsigned offset, TraceId id, Data data, unsigned size) {
        bytes_of_[id] += size;
        if (size == 0 || id >= kTraceIdCount || !wanted_[id]) return;
        StreamBuffer& stream = streams_[id];
        store_data(stream.bytes_.room(kFrameSize), data);
        stream.finish_run(index + offset, size);
      });
}

// Up to `count` frames from `at` on, as long as they have no ID bytes; returns how many.
std::size_t StreamSplitter::split_plain_frames(const std::uint8_t* at, std::size_t count,
                                               TraceIndex index) {
  const TraceId id = demux_.current_id_;
  std::size_t frames = 0;
  if (id < kTraceIdCount && wanted_[id]) {
    StreamBuffer& stream = streams_[id];
    std::uint8_t* out = stream.bytes_.room(count * kPlainFrameBytes + 1);  // Each store is 16 wide.
    const Run run{stream.size(), index, true};
    for (; frames < count; ++frames) {
      const auto low = load_le<std::uint64_t>(at);
      const auto high = load_le<std::uint64_t>(at + 8);
      if (((low | high) & kIdBits) != 0) break;
      const unsigned flags = at[kPlainFrameBytes];
      store_little(out, low | kFlagBits[flags & 0xF]);
      store_little(out + 8, high | kFlagBits[flags >> 4]);
      at += kFrameSize;
      out += kPlainFrameBytes;
    }
    if (frames != 0) {
      *stream.runs_.room(1) = run;
      stream.runs_.advance(1);
      stream.bytes_.advance(frames * kPlainFrameBytes);
    }
  } else {
    while (frames < count &&
           ((load_le<std::uint64_t>(at) | load_le<std::uint64_t>(at + 8)) & kIdBits) == 0) {
      ++frames;
      at += kFrameSize;
    }
  }
  bytes_of_[id] += frames * kPlainFrameBytes;
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
