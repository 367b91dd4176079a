#include "buffer_joiner.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include "waymark/protocol/landmark.h"

namespace waymark::inputs {
namespace {

constexpr TraceId kNoSync = 0x7F;  ///< Would look like a frame sync.

/// The last timestamp in each step of a buffer.
class StepTimes final : public Observer {
 public:
  explicit StepTimes(std::uint64_t steps) : last_(in_memory(steps)) {}

  [[nodiscard]] bool wants_packets() const override { return false; }
  [[nodiscard]] bool wants_landmarks() const override { return true; }
  void on_landmark(const Landmark& landmark, TraceId id) override {
    if (landmark.kind != LandmarkKind::kTimestamp || landmark.value == 0 || local_[id]) return;
    const std::uint64_t step = landmark.index / BufferJoiner::kStep;
    if (step < last_.size()) last_[in_memory(step)] = landmark.value;
  }
  /// The timestamps of this source count a clock of its own.
  void leave_out(TraceId id) { local_.set(id); }

  /// The time at which each step begins.  Without timestamps, each is later than any other time.
  [[nodiscard]] std::vector<std::uint64_t> begins() {
    constexpr std::uint64_t kNever = ~std::uint64_t{0};
    leave_out_damage();
    const auto first = std::ranges::find_if(last_, [](std::uint64_t time) { return time != 0; });
    std::uint64_t time = first == last_.end() ? kNever : *first;
    std::vector<std::uint64_t> begins;
    begins.reserve(last_.size());
    for (const std::uint64_t last : last_) {
      begins.push_back(time);
      if (last != 0) time = last;
    }
    return begins;
  }

 private:
  /// One timestamp that is far from both neighbours, which are in order, is damaged: with it, the
  /// buffer would wait for all others, or they for it.
  void leave_out_damage() {
    std::uint64_t* before = nullptr;
    std::uint64_t* middle = nullptr;
    for (std::uint64_t& after : last_) {
      if (after == 0) continue;
      if (before != nullptr && *before <= after && (*middle < *before || *middle > after))
        *middle = *before;
      before = std::exchange(middle, &after);
    }
  }

  std::vector<std::uint64_t> last_;  ///< 0: none.
  std::bitset<kTraceIdCount> local_;
};

/// The ID of a byte of a frame, if it is an ID byte.
constexpr std::optional<TraceId> id_of(std::uint8_t byte) {
  if ((byte & 1) == 0) return std::nullopt;
  return static_cast<TraceId>(byte >> 1);
}
constexpr std::uint8_t id_byte(TraceId id) { return static_cast<std::uint8_t>(id << 1 | 1); }

}  // namespace

BufferJoiner::BufferJoiner(const std::vector<BufferInput>& inputs, TemporaryFile& out)
    : out_(out), mux_(frames::MuxOptions{.id_repeat = 0}) {
  for (const BufferInput& input : inputs) {
    Reader reader{.input = input};
    const Framing framing = reader.input.capture->framing();
    if (framing != Framing::kNone && framing != Framing::kMemoryAligned)
      reader.demux.emplace(*frame_options(framing));
    readers_.push_back(std::move(reader));
  }
}

Result<void> BufferJoiner::join(const std::function<bool()>& stop) {
  for (Reader& reader : readers_) WAYMARK_TRY(read_times(reader, stop));
  const Reader* last = nullptr;
  while (Reader* const reader = earliest()) {
    if (stop && stop()) return fail(ErrorCode::kIo, "Joining the buffers was interrupted.");
    if (reader != last) WAYMARK_TRY(end_part());
    WAYMARK_TRY(copy_step(static_cast<std::size_t>(reader - readers_.data()), reader != last));
    last = reader;
  }
  return end_part();
}

/// Afterwards, the buffer is at its beginning again.
Result<void> BufferJoiner::read_times(Reader& reader, const std::function<bool()>& stop) {
  Capture& capture = *reader.input.capture;
  StepTimes times((capture.trace_bytes() + kStep - 1) / kStep);
  for (const CaptureSource& source : capture.sources())
    if (source.source->protocol() == Protocol::kItm) times.leave_out(source.id);
  DecodeTree& tree = capture.tree();
  tree.set_observer(&times);
  while (const auto block = capture.next_block()) {
    if (stop && stop()) return fail(ErrorCode::kIo, "Joining the buffers was interrupted.");
    WAYMARK_TRY(tree.feed(block->index, block->bytes));
    tree.work([](Source& source) { static_cast<void>(source.next({})); });
  }
  tree.set_observer(nullptr);
  capture.seek(0);
  reader.times = times.begins();
  return {};
}

/// The reader of the step that is to come next; nullptr: none is left.
BufferJoiner::Reader* BufferJoiner::earliest() {
  Reader* found = nullptr;
  for (Reader& reader : readers_) {
    if (reader.step == reader.times.size()) continue;
    if (found == nullptr || reader.times[reader.step] < found->times[found->step]) found = &reader;
  }
  return found;
}

/// Copies the next step of a reader; `begins`: it does not follow that reader's last one.
Result<void> BufferJoiner::copy_step(std::size_t number, bool begins) {
  Reader& reader = readers_[number];
  Capture& capture = *reader.input.capture;
  std::uint64_t at = reader.step++ * kStep;
  const std::uint64_t end = std::min(at + kStep, capture.trace_bytes());
  if (begins) WAYMARK_TRY(begin_part(number, at));
  while (at < end) {
    // A block ends where the next record of DSTREAM begins.
    capture.seek(at);
    const auto block = capture.next_block();
    if (!block) break;
    const Bytes bytes =
        block->bytes.first(in_memory(std::min<std::uint64_t>(block->bytes.size(), end - at)));
    if (reader.demux) {
      WAYMARK_TRY(copy_synced_frames(reader, at, bytes));
    } else if (capture.framing() == Framing::kNone) {
      WAYMARK_TRY(mux_.write(reader.input.ids.of(0), bytes));
    } else {
      WAYMARK_TRY(copy_frames(reader, bytes));
    }
    at += bytes.size();
  }
  return put(mux_.take());
}

/// The frames stay as they are, except for the IDs.
Result<void> BufferJoiner::copy_frames(Reader& reader, Bytes bytes) {
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at < copy.size(); at += 2) {
    const auto id = id_of(copy[at]);
    if (!id) continue;
    reader.current = reader.input.ids.of(*id);
    copy[at] = id_byte(reader.current);
  }
  current_ = reader.current;
  return put(copy);
}

/// The same bytes in frames without syncs.
Result<void> BufferJoiner::copy_synced_frames(Reader& reader, TraceIndex index, Bytes bytes) {
  frames::Demux& demux = *reader.demux;
  WAYMARK_TRY(demux.feed(index, bytes));
  for (frames::Step step = demux.step(); step != frames::Step::kNeedInput; step = demux.step()) {
    if (step == frames::Step::kError) {
      demux.resync();
      mux_.append_reset();
      ++losses_;
    }
    if (step != frames::Step::kFrame) continue;
    for (const frames::Segment& segment : demux.frame().view()) {
      // Bytes before the first ID, padding, and what looks like a sync belong to no source.
      if (segment.size == 0 || segment.id == 0 || segment.id >= kNoSync) continue;
      WAYMARK_TRY(mux_.write(reader.input.ids.of(segment.id), segment.bytes()));
    }
  }
  return {};
}

/// States the ID that is current in the buffer where frames are copied.
Result<void> BufferJoiner::begin_part(std::size_t number, std::uint64_t offset) {
  const Reader& reader = readers_[number];
  const bool copies = reader.input.capture->framing() == Framing::kMemoryAligned;
  if (copies && reader.current != current_) {
    // Padding, and the ID for the first byte of the next frame.
    std::array<std::uint8_t, frames::kFrameSize> frame{id_byte(0)};
    frame[frames::kFrameSize - 2] = id_byte(reader.current == kNoTraceId ? 0 : reader.current);
    WAYMARK_TRY(put(frame));
    current_ = reader.current;
  }
  parts_.push_back({.begin = size_, .buffer = number, .offset = offset});
  return {};
}

/// Fills the last frame.
Result<void> BufferJoiner::end_part() {
  if (parts_.empty()) return {};
  const Reader& reader = readers_[parts_.back().buffer];
  if (reader.input.capture->framing() == Framing::kMemoryAligned) return {};
  mux_.finish();
  WAYMARK_TRY(put(mux_.take()));
  // The next part states its ID itself.
  mux_ = frames::Mux(frames::MuxOptions{.id_repeat = 0});
  current_.reset();
  return {};
}

Result<void> BufferJoiner::put(Bytes bytes) {
  size_ += bytes.size();
  return out_.write(bytes);
}

}  // namespace waymark::inputs
