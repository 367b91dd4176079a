#include "waymark/frames/demux.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "unpack_inl.h"
#include "waymark/frames/stream.h"

namespace waymark::frames {
Result<void> check(const Options& options) {
  if (options.memory_aligned && (options.has_fsyncs || options.has_hsyncs)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "Frames cannot be memory aligned and carry FSYNCs or HSYNCs; choose one of the two.");
  }
  return {};
}

unsigned unpack(const std::uint8_t* frame, TraceIndex index, TraceId& current_id, Frame& out) {
  unsigned count = 0;
  const unsigned overhead =
      take_apart(frame, current_id, [&](unsigned offset, TraceId id, Data data, unsigned size) {
        Segment& segment = out.segments[count++];
        segment.index = index + offset;
        segment.id = id;
        segment.size = static_cast<std::uint8_t>(size);
        store_data(segment.data.data(), data);
      });
  out.count = static_cast<std::uint8_t>(count);
  return overhead;
}

void Demux::reset() {
  block_ = {};
  base_ = 0;
  pos_ = pass_ = 0;
  started_ = failed_ = resyncing_ = discarding_ = half_ = carrying_ = after_hsync_ = false;
  synced_ = options_.memory_aligned || !options_.has_fsyncs;
  matched_ = held_sync_ = have_ = 0;
  reset_bytes_ = 0;
  hsync_bytes_ = 0;
  boundary_ = frame_index_ = 0;
  current_id_ = kNoTraceId;
  frame_.count = 0;
  error_ = {};
}

Result<void> Demux::refuse(Finding finding, TraceIndex index, std::string detail) {
  error_ = {.fault = Fault::kInvalidBlock,
            .finding = finding,
            .stage = Stage::kFrames,
            .fatal = true,
            .number = static_cast<std::uint8_t>(options_.alignment()),
            .index = index};
  return fail(ErrorCode::kInvalidArgument, std::move(detail), index);
}

Result<void> Demux::feed(TraceIndex index, Bytes block) {
  if (failed_)
    return refuse(
        Finding::kBlockAfterError, index,
        fmt::format("A block at offset {} was given to a frame demultiplexer that stopped "
                    "at an error; call reset() or resync() first.",
                    index));
  if (pos_ != block_.size())
    return refuse(Finding::kBlockTooEarly, index,
                  fmt::format("A block at offset {} was given while {} bytes of the one before are "
                              "not used; step() to the end or withdraw() it.",
                              index, block_.size() - pos_));
  if (block.empty())
    return refuse(
        Finding::kBlockEmpty, index,
        fmt::format("An empty block was given at offset {}; blocks hold at least {} bytes.", index,
                    options_.alignment()));
  const TraceIndex expected = base_ + block_.size();
  if (started_ && index != expected)
    return refuse(Finding::kBlockNotContinuous, index,
                  fmt::format("A block at offset {} does not continue the capture, which is at "
                              "offset {}; give the missing bytes, or reset() first.",
                              index, expected));
  if (block.size() % options_.alignment() != 0)
    return refuse(
        Finding::kBlockSize, index,
        fmt::format("The block at offset {} has {} bytes; this framing takes multiples of "
                    "{} bytes.",
                    index, block.size(), options_.alignment()));
  if (!started_) boundary_ = index;
  started_ = true;
  block_ = block;
  base_ = index;
  pos_ = pass_ = 0;
  held_sync_ = 0;
  reset_bytes_ = 0;
  after_hsync_ = false;
  if (quirks_.block_end_moves_index && synced_ && have_ == 0 && !half_ && !discarding_) {
    boundary_ = index - (carrying_ ? 1 : 0);
    statistics_.frame_bytes += hsync_bytes_;
    hsync_bytes_ = 0;
  }
  return {};
}

bool Demux::same_state(const Demux& other) const {
  const auto state = [](const Demux& d) {
    return std::tuple(d.base_ + d.pos_, d.started_, d.synced_, d.failed_, d.resyncing_,
                      d.discarding_, d.half_, d.carrying_, d.carrying_ ? d.carry_ : 0,
                      d.after_hsync_, d.matched_, d.have_, d.hsync_bytes_, d.boundary_,
                      d.have_ != 0 ? d.frame_index_ : 0, d.current_id_);
  };
  return state(*this) == state(other) &&
         std::equal(partial_.begin(), partial_.begin() + have_, other.partial_.begin());
}

std::optional<Demux::Place> Demux::place() const {
  // Half-syncs since the boundary were consumed; the next reader will see them again.
  if (!synced_ || failed_ || discarding_ || !started_) return std::nullopt;
  return Place{boundary_, current_id_};
}

std::size_t Demux::withdraw() {
  const std::size_t used = consumed();
  block_ = block_.first(used);
  pos_ = pass_ = used;
  reset_bytes_ = 0;
  return used;
}

// Only if a monitor wants it.
void Demux::show_packed() {
  if (pos_ == pass_ && held_sync_ == 0) return;
  const Bytes bytes = block_.subspan(pass_, pos_ - pass_);
  if (held_sync_ == 0) {
    monitor_->on_raw_frame(RawKind::kPacked, base_ + pass_, kNoTraceId, bytes);
    return;
  }
  // Once per sync: one FSYNC, and at most what follows it in the block.
  std::vector<std::uint8_t> whole(held_sync_, 0xFF);
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  monitor_->on_raw_frame(RawKind::kPacked, base_ + pass_ - held_sync_, kNoTraceId, whole);
}

inline void Demux::end_pass() {
  if (monitor_ != nullptr && packed_) [[unlikely]]
    show_packed();
  held_sync_ = 0;
  pass_ = pos_;
}

inline Step Demux::complete_frame() {
  statistics_.frame_bytes += hsync_bytes_;
  hsync_bytes_ = 0;
  after_hsync_ = false;
  boundary_ = base_ + pos_;
  end_pass();
  return Step::kFrame;
}

inline Step Demux::advance_aligned() {
  if (discarding_) {  // resync() has moved on to the next aligned frame.
    discarding_ = false;
    const TraceIndex from = boundary_;
    boundary_ = base_ + pos_;
    return skipped(from, boundary_ - from);
  }
  if (options_.reset_on_4x_fsync) {
    if (reset_bytes_ != 0) {
      if (monitor_ != nullptr)
        monitor_->on_raw_frame(RawKind::kFsync, base_ + pos_ - reset_bytes_, kNoTraceId,
                               block_.subspan(pos_ - reset_bytes_, reset_bytes_));
      reset_bytes_ = 0;
    } else {
      std::size_t end = pos_;
      while (end < block_.size() && is_fsync(block_.data() + end)) end += kFsyncBytes.size();
      if ((end - pos_) % kFrameSize != 0) {
        if (monitor_ != nullptr)
          monitor_->on_raw_frame(RawKind::kFsync, base_ + pos_, kNoTraceId,
                                 block_.subspan(pos_, end - pos_));
        return fail_pass(Finding::kFsyncRun);
      }
      if (end != pos_) {
        reset_bytes_ = end - pos_;
        statistics_.frame_bytes += reset_bytes_;
        pos_ = end;
        boundary_ = base_ + pos_;
        current_id_ = kNoTraceId;
        return Step::kReset;
      }
    }
  }
  if (pos_ == block_.size()) return end_block();
  frame_at_ = block_.data() + pos_;
  frame_index_ = base_ + pos_;
  pos_ += kFrameSize;
  return complete_frame();
}

Step Demux::step() {
  const Step step = advance();
  if (step == Step::kFrame)
    statistics_.frame_bytes += unpack(frame_at_, frame_index_, current_id_, frame_);
  return step;
}

// A frame that begins with an FSYNC byte would have an ID byte.
std::size_t Demux::take_plain_frames(std::span<std::uint8_t> out, TraceIndex& index) {
  const bool ready = options_.memory_aligned && monitor_ == nullptr && !failed_ && !discarding_ &&
                     reset_bytes_ == 0;
  if (!ready || out.empty()) return 0;
  const std::uint8_t* at = block_.data() + pos_;
  std::uint8_t* to = out.data();
  // Each store is 16 bytes wide.
  const std::size_t most =
      std::min((block_.size() - pos_) / kFrameSize, (out.size() - 1) / kPlainFrameBytes);
  std::size_t count = 0;
  for (; count < most; ++count) {
    const auto low = load_le<std::uint64_t>(at);
    const auto high = load_le<std::uint64_t>(at + 8);
    if (((low | high) & kIdBits) != 0) break;
    const unsigned flags = at[kPlainFrameBytes];
    store_little(to, low | kFlagBits[flags & 0xF]);
    store_little(to + 8, high | kFlagBits[flags >> 4]);
    at += kFrameSize;
    to += kPlainFrameBytes;
  }
  if (count == 0) return 0;
  index = base_ + pos_;
  statistics_.frame_bytes += count;
  pos_ += count * kFrameSize;
  pass_ = pos_;
  boundary_ = base_ + pos_;
  return count;
}

std::size_t Demux::take_plain_frames(StreamBuffer& out, std::size_t most) {
  const std::size_t left = (block_.size() - pos_) / kFrameSize;
  const std::size_t room = std::min(most, left) * kPlainFrameBytes + 1;
  TraceIndex index = 0;
  const std::size_t frames = take_plain_frames({out.room(room), room}, index);
  if (frames != 0) out.finish_run(index, frames * kPlainFrameBytes, true);
  return frames;
}

void Demux::give_back_frames(std::size_t count) {
  pos_ -= count * kFrameSize;
  pass_ = pos_;
  boundary_ = base_ + pos_;
  statistics_.frame_bytes -= count;
}

// Finds the next frame; the caller unpacks it.
Step Demux::advance() {
  if (failed_) return Step::kNeedInput;
  if (!synced_) {
    const TraceIndex from = boundary_;
    if (!search()) return Step::kNeedInput;
    // The FSYNC that was found may already have moved the boundary.
    const TraceIndex found = base_ + pass_ - held_sync_;
    if (found != from) return skipped(from, found - from);
    resyncing_ = false;
  }
  return options_.memory_aligned ? advance_aligned() : advance_pairs();
}

// The pairs of frames.md 4.3: one at a time near a sync, a cut or damage, otherwise frame by
// frame.
Step Demux::advance_pairs() {
  for (;;) {
    if (have_ == 0 && !half_ && !carrying_ && !discarding_) {
      if (options_.has_fsyncs && !(quirks_.fsync_after_hsync_fails && after_hsync_)) {
        while (block_.size() - pos_ >= kFsyncBytes.size() && is_fsync(block_.data() + pos_)) {
          pos_ += kFsyncBytes.size();
          statistics_.frame_bytes += kFsyncBytes.size() + hsync_bytes_;
          hsync_bytes_ = 0;
          boundary_ = base_ + pos_;
        }
      }
      const std::uint8_t* at = block_.data() + pos_;
      if (block_.size() - pos_ >= kFrameSize && !has_sync_byte(load_le<std::uint64_t>(at)) &&
          !has_sync_byte(load_le<std::uint64_t>(at + 8))) {
        frame_at_ = at;
        frame_index_ = boundary_;
        pos_ += kFrameSize;
        return complete_frame();
      }
    }

    const std::size_t left = block_.size() - pos_;
    if (left + (carrying_ ? 1 : 0) < 2) {
      if (left == 1) {  // Possible only after a sync at an odd offset.
        carry_ = block_[pos_++];
        carrying_ = true;
      }
      return end_block();
    }
    const std::size_t next = pos_ + (carrying_ ? 1 : 2);
    const std::uint8_t first = carrying_ ? carry_ : block_[pos_];
    const std::uint8_t second = block_[next - 1];
    const bool ends_sync = first == 0xFF && second == 0x7F;
    const bool begins_sync = first == 0xFF && second == 0xFF;

    if (half_ && !ends_sync) return fail_pass(Finding::kFsyncCutShort);
    if (half_) {
      half_ = false;
      statistics_.frame_bytes += kFsyncBytes.size() + hsync_bytes_;
      hsync_bytes_ = 0;
      boundary_ = base_ + next;
    } else if (begins_sync && !discarding_) {
      if (!starts_sync(next)) return fail_pass(Finding::kFsyncInFrame);
      half_ = true;
    } else if (ends_sync && options_.has_hsyncs) {
      hsync_bytes_ += 2;
      after_hsync_ = have_ == 0;
    } else if (ends_sync && !discarding_) {
      return fail_pass(Finding::kHsyncInFrame);
    } else {
      if (have_ == 0) frame_index_ = boundary_;
      partial_[have_] = first;
      partial_[have_ + 1U] = second;
      have_ = static_cast<std::uint8_t>(have_ + 2);
    }
    pos_ = next;
    carrying_ = false;

    if (have_ < kFrameSize) continue;
    have_ = 0;
    if (discarding_) {
      discarding_ = false;
      hsync_bytes_ = 0;
      const TraceIndex from = boundary_;
      boundary_ = base_ + pos_;
      pass_ = pos_;
      return skipped(from, boundary_ - from);
    }
    frame_at_ = partial_.data();
    return complete_frame();
  }
}

// FF FF was found, and `next` is the position after it: can it be the first half of an FSYNC?
bool Demux::starts_sync(std::size_t next) const {
  if (!options_.has_fsyncs || have_ != 0) return false;
  if (quirks_.fsync_after_hsync_fails && after_hsync_) return false;
  if (block_.size() - next < 2) return true;  // The next block decides.
  return block_[next] == 0xFF && block_[next + 1] == 0x7F;
}

// Searches for FF FF FF 7F at any offset, also across the ends of blocks.
bool Demux::search() {
  while (pos_ < block_.size()) {
    if (matched_ == 0) {
      const auto* at = static_cast<const std::uint8_t*>(
          std::memchr(block_.data() + pos_, 0xFF, block_.size() - pos_));
      pos_ = at == nullptr ? block_.size() : static_cast<std::size_t>(at - block_.data());
      if (at == nullptr) break;
    }
    const std::uint8_t byte = block_[pos_++];
    if (byte == 0xFF) {
      matched_ = static_cast<std::uint8_t>(std::min(matched_ + 1, 3));
    } else if (byte != 0x7F || matched_ < 3) {
      matched_ = 0;
    } else {
      matched_ = 0;
      synced_ = true;
      if (pos_ >= kFsyncBytes.size()) {  // Left for advance_pairs().
        pos_ -= kFsyncBytes.size();
        pass_ = pos_;
        boundary_ = base_ + pos_;
      } else {
        held_sync_ = static_cast<std::uint8_t>(kFsyncBytes.size() - pos_);
        pass_ = 0;
        statistics_.frame_bytes += kFsyncBytes.size();
        boundary_ = base_ + pos_;
      }
      return true;
    }
  }
  pass_ = pos_;
  return false;
}

Step Demux::skipped(TraceIndex from, std::uint64_t count) {
  error_ = {.fault = Fault::kBadFrameSync,
            .finding = resyncing_ ? Finding::kSkippedAfterError : Finding::kSkippedBeforeSync,
            .severity = resyncing_ ? Severity::kWarning : Severity::kInfo,
            .stage = Stage::kFrames,
            .index = from,
            .lost = count};
  resyncing_ = false;
  return Step::kSkipped;
}

Step Demux::end_block() {
  end_pass();
  return Step::kNeedInput;
}

Step Demux::fail_pass(Finding finding) {
  error_ = {.fault = Fault::kBadFrameSync,
            .finding = finding,
            .stage = Stage::kFrames,
            .fatal = true,
            .index = base_ + pass_ - held_sync_};
  failed_ = true;
  return Step::kError;
}

void Demux::resync() {
  if (!failed_) return;
  failed_ = false;
  resyncing_ = true;
  current_id_ = kNoTraceId;
  held_sync_ = 0;
  boundary_ = std::min(boundary_, base_ + pos_);  // A withdrawn block may have moved it back.
  if (options_.memory_aligned) {
    // The run of FSYNCs ends inside a frame: continue after that frame.
    std::size_t end = pos_;
    while (end < block_.size() && is_fsync(block_.data() + end)) end += kFsyncBytes.size();
    pos_ += (end - pos_ + kFrameSize - 1) / kFrameSize * kFrameSize;
    pass_ = pos_;
    discarding_ = true;
  } else if (options_.has_fsyncs) {
    // Bytes before the bad pair that can still be the start of an FSYNC.
    matched_ = half_ ? 2 : 0;
    if (carrying_) matched_ = static_cast<std::uint8_t>(carry_ == 0xFF ? matched_ + 1 : 0);
    half_ = carrying_ = after_hsync_ = false;
    have_ = 0;
    hsync_bytes_ = 0;
    synced_ = false;
  } else {
    discarding_ = true;  // The boundaries stay: drop this frame.
  }
}

}  // namespace waymark::frames
