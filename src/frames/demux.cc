#include "waymark/frames/demux.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
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
  framing_ = {.synced = options_.memory_aligned || !options_.has_fsyncs};
  partial_ = {};
  frame_index_ = 0;
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
  if (framing_.failed)
    return refuse(
        Finding::kBlockAfterError, index,
        fmt::format("A block at offset {} was given to a frame demultiplexer that stopped "
                    "at an error; call reset() or resync() first.",
                    index));
  if (block_.left() != 0)
    return refuse(Finding::kBlockTooEarly, index,
                  fmt::format("A block at offset {} was given while {} bytes of the one before are "
                              "not used; step() to the end or withdraw() it.",
                              index, block_.left()));
  if (block.empty())
    return refuse(
        Finding::kBlockEmpty, index,
        fmt::format("An empty block was given at offset {}; blocks hold at least {} bytes.", index,
                    options_.alignment()));
  const TraceIndex expected = block_.base + block_.bytes.size();
  if (framing_.started && index != expected)
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
  if (!framing_.started) framing_.boundary = index;
  framing_.started = true;
  block_ = {.bytes = block, .base = index};
  partial_.after_hsync = false;
  if (quirks_.block_end_moves_index && framing_.synced && partial_.have == 0 && !partial_.half &&
      !framing_.discarding) {
    framing_.boundary = index - (partial_.carrying ? 1 : 0);
    statistics_.frame_bytes += std::exchange(partial_.hsync_bytes, 0);
  }
  return {};
}

bool Demux::same_state(const Demux& other) const {
  return block_.index() == other.block_.index() && framing_ == other.framing_ &&
         partial_ == other.partial_ && (partial_.have == 0 || frame_index_ == other.frame_index_) &&
         current_id_ == other.current_id_;
}

std::optional<Demux::Place> Demux::place() const {
  // Half-syncs since the boundary were consumed; the next reader will see them again.
  if (!framing_.synced || framing_.failed || framing_.discarding || !framing_.started)
    return std::nullopt;
  return Place{framing_.boundary, current_id_};
}

std::size_t Demux::withdraw() {
  const std::size_t used = consumed();
  block_.bytes = block_.bytes.first(used);
  block_.pos = block_.pass = used;
  block_.reset_bytes = 0;
  return used;
}

// Only if a monitor wants it.
void Demux::show_packed() {
  if (block_.pos == block_.pass && block_.held_sync == 0) return;
  const Bytes bytes = block_.bytes.subspan(block_.pass, block_.pos - block_.pass);
  if (block_.held_sync == 0) {
    monitor_->on_raw_frame(RawKind::kPacked, block_.base + block_.pass, kNoTraceId, bytes);
    return;
  }
  // Once per sync: one FSYNC, and at most what follows it in the block.
  std::vector<std::uint8_t> whole(block_.held_sync, 0xFF);
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  monitor_->on_raw_frame(RawKind::kPacked, block_.pass_index(), kNoTraceId, whole);
}

inline void Demux::end_pass() {
  if (monitor_ != nullptr && packed_) [[unlikely]]
    show_packed();
  block_.held_sync = 0;
  block_.begin_pass();
}

inline Step Demux::complete_frame() {
  statistics_.frame_bytes += std::exchange(partial_.hsync_bytes, 0);
  partial_.after_hsync = false;
  move_boundary();
  end_pass();
  return Step::kFrame;
}

inline Step Demux::advance_aligned() {
  // resync() has moved on to the next aligned frame.
  if (framing_.discarding) return end_discarding();
  if (options_.reset_on_4x_fsync) {
    if (block_.reset_bytes != 0) {
      if (monitor_ != nullptr)
        monitor_->on_raw_frame(
            RawKind::kFsync, block_.index() - block_.reset_bytes, kNoTraceId,
            block_.bytes.subspan(block_.pos - block_.reset_bytes, block_.reset_bytes));
      block_.reset_bytes = 0;
    } else {
      const std::size_t end = block_.end_of_fsyncs();
      if ((end - block_.pos) % kFrameSize != 0) {
        if (monitor_ != nullptr)
          monitor_->on_raw_frame(RawKind::kFsync, block_.index(), kNoTraceId,
                                 block_.bytes.subspan(block_.pos, end - block_.pos));
        return fail_pass(Finding::kFsyncRun);
      }
      if (end != block_.pos) {
        block_.reset_bytes = end - block_.pos;
        statistics_.frame_bytes += block_.reset_bytes;
        block_.pos = end;
        move_boundary();
        current_id_ = kNoTraceId;
        return Step::kReset;
      }
    }
  }
  if (block_.left() == 0) return end_block();
  frame_at_ = block_.at();
  frame_index_ = block_.index();
  block_.pos += kFrameSize;
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
  const bool ready = options_.memory_aligned && monitor_ == nullptr && !framing_.failed &&
                     !framing_.discarding && block_.reset_bytes == 0;
  if (!ready || out.empty()) return 0;
  const std::uint8_t* at = block_.at();
  std::uint8_t* to = out.data();
  // Each store is 16 bytes wide.
  const std::size_t most =
      std::min(block_.left() / kFrameSize, (out.size() - 1) / kPlainFrameBytes);
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
  index = block_.index();
  statistics_.frame_bytes += count;
  block_.pos += count * kFrameSize;
  block_.begin_pass();
  move_boundary();
  return count;
}

std::size_t Demux::take_plain_frames(StreamBuffer& out, std::size_t most) {
  const std::size_t left = block_.left() / kFrameSize;
  const std::size_t room = std::min(most, left) * kPlainFrameBytes + 1;
  TraceIndex index = 0;
  const std::size_t frames = take_plain_frames({out.room(room), room}, index);
  if (frames != 0) out.finish_run(index, frames * kPlainFrameBytes, true);
  return frames;
}

void Demux::give_back_frames(std::size_t count) {
  block_.pos -= count * kFrameSize;
  block_.begin_pass();
  move_boundary();
  statistics_.frame_bytes -= count;
}

// Finds the next frame; the caller unpacks it.
Step Demux::advance() {
  if (framing_.failed) return Step::kNeedInput;
  if (!framing_.synced) {
    const TraceIndex from = framing_.boundary;
    if (!search()) return Step::kNeedInput;
    // The FSYNC that was found may already have moved the boundary.
    const TraceIndex found = block_.pass_index();
    if (found != from) return skipped(from, found - from);
    framing_.resyncing = false;
  }
  return options_.memory_aligned ? advance_aligned() : advance_pairs();
}

// The pairs of frames.md 4.3: one at a time near a sync, a cut or damage, otherwise frame by
// frame.
Step Demux::advance_pairs() {
  const std::uint64_t counted = statistics_.frame_bytes;
  for (;;) {
    if (partial_.empty() && !framing_.discarding) {
      if (options_.has_fsyncs && !(quirks_.fsync_after_hsync_fails && partial_.after_hsync)) {
        while (block_.left() >= kFsyncBytes.size() && is_fsync(block_.at())) {
          block_.pos += kFsyncBytes.size();
          statistics_.frame_bytes += kFsyncBytes.size() + std::exchange(partial_.hsync_bytes, 0);
          move_boundary();
        }
      }
      const std::uint8_t* at = block_.at();
      if (block_.left() >= kFrameSize && !has_sync_byte(load_le<std::uint64_t>(at)) &&
          !has_sync_byte(load_le<std::uint64_t>(at + 8))) {
        frame_at_ = at;
        frame_index_ = framing_.boundary;
        block_.pos += kFrameSize;
        return complete_frame();
      }
    }

    const std::size_t left = block_.left();
    if (left + (partial_.carrying ? 1 : 0) < 2) {
      if (left == 1) {  // Possible only after a sync at an odd offset.
        partial_.carry = block_.bytes[block_.pos++];
        partial_.carrying = true;
      }
      return end_block();
    }
    const std::size_t next = block_.pos + (partial_.carrying ? 1 : 2);
    const std::uint8_t first = partial_.carrying ? partial_.carry : block_.bytes[block_.pos];
    const std::uint8_t second = block_.bytes[next - 1];
    const bool ends_sync = first == 0xFF && second == 0x7F;
    const bool begins_sync = first == 0xFF && second == 0xFF;

    if (partial_.half && !ends_sync) return fail_pair(Finding::kFsyncCutShort, counted);
    if (partial_.half) {
      partial_.half = false;
      statistics_.frame_bytes += kFsyncBytes.size() + std::exchange(partial_.hsync_bytes, 0);
      framing_.boundary = block_.base + next;
    } else if (begins_sync && !framing_.discarding) {
      if (!starts_sync(next)) return fail_pair(Finding::kFsyncInFrame, counted);
      partial_.half = true;
    } else if (ends_sync && options_.has_hsyncs) {
      partial_.hsync_bytes += 2;
      partial_.after_hsync = partial_.have == 0;
    } else if (ends_sync && !framing_.discarding) {
      return fail_pair(Finding::kHsyncInFrame, counted);
    } else {
      if (partial_.have == 0) frame_index_ = framing_.boundary;
      partial_.bytes[partial_.have] = first;
      partial_.bytes[partial_.have + 1U] = second;
      partial_.have = static_cast<std::uint8_t>(partial_.have + 2);
    }
    block_.pos = next;
    partial_.carrying = false;

    if (partial_.have < kFrameSize) continue;
    partial_.have = 0;
    if (framing_.discarding) return end_discarding();
    frame_at_ = partial_.bytes.data();
    return complete_frame();
  }
}

// FF FF was found, and `next` is the position after it: can it be the first half of an FSYNC?
bool Demux::starts_sync(std::size_t next) const {
  if (!options_.has_fsyncs || partial_.have != 0) return false;
  if (quirks_.fsync_after_hsync_fails && partial_.after_hsync) return false;
  if (block_.bytes.size() - next < 2) return true;  // The next block decides.
  return block_.bytes[next] == 0xFF && block_.bytes[next + 1] == 0x7F;
}

// Searches for FF FF FF 7F at any offset, also across the ends of blocks.
bool Demux::search() {
  while (block_.pos < block_.bytes.size()) {
    if (framing_.matched == 0) {
      const auto* at =
          static_cast<const std::uint8_t*>(std::memchr(block_.at(), 0xFF, block_.left()));
      block_.pos =
          at == nullptr ? block_.bytes.size() : static_cast<std::size_t>(at - block_.bytes.data());
      if (at == nullptr) break;
    }
    const std::uint8_t byte = block_.bytes[block_.pos++];
    if (byte == 0xFF) {
      framing_.matched = static_cast<std::uint8_t>(std::min(framing_.matched + 1, 3));
    } else if (byte != 0x7F || framing_.matched < 3) {
      framing_.matched = 0;
    } else {
      framing_.matched = 0;
      framing_.synced = true;
      if (block_.pos >= kFsyncBytes.size()) {  // Left for advance_pairs().
        block_.pos -= kFsyncBytes.size();
        block_.begin_pass();
        move_boundary();
      } else {
        block_.held_sync = static_cast<std::uint8_t>(kFsyncBytes.size() - block_.pos);
        block_.pass = 0;
        statistics_.frame_bytes += kFsyncBytes.size();
        move_boundary();
      }
      return true;
    }
  }
  block_.begin_pass();
  return false;
}

Step Demux::end_discarding() {
  framing_.discarding = false;
  partial_.hsync_bytes = 0;
  const TraceIndex from = framing_.boundary;
  move_boundary();
  block_.begin_pass();
  return skipped(from, framing_.boundary - from);
}

Step Demux::skipped(TraceIndex from, std::uint64_t count) {
  error_ = {
      .fault = Fault::kBadFrameSync,
      .finding = framing_.resyncing ? Finding::kSkippedAfterError : Finding::kSkippedBeforeSync,
      .severity = framing_.resyncing ? Severity::kWarning : Severity::kInfo,
      .stage = Stage::kFrames,
      .index = from,
      .lost = count};
  framing_.resyncing = false;
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
            .index = block_.pass_index()};
  framing_.failed = true;
  return Step::kError;
}

Step Demux::fail_pair(Finding finding, std::uint64_t counted_before) {
  if (quirks_.failed_pass_uncounted) statistics_.frame_bytes = counted_before;
  return fail_pass(finding);
}

void Demux::resync() {
  if (!framing_.failed) return;
  framing_.failed = false;
  framing_.resyncing = true;
  current_id_ = kNoTraceId;
  block_.held_sync = 0;
  framing_.boundary =
      std::min(framing_.boundary, block_.index());  // A withdrawn block may have moved it back.
  if (options_.memory_aligned) {
    // The run of FSYNCs ends inside a frame: continue after that frame.
    const std::size_t run = block_.end_of_fsyncs() - block_.pos;
    block_.pos += (run + kFrameSize - 1) / kFrameSize * kFrameSize;
    block_.begin_pass();
    framing_.discarding = true;
  } else if (options_.has_fsyncs) {
    // Bytes before the bad pair that can still be the start of an FSYNC.
    framing_.matched = partial_.half ? 2 : 0;
    if (partial_.carrying)
      framing_.matched =
          static_cast<std::uint8_t>(partial_.carry == 0xFF ? framing_.matched + 1 : 0);
    partial_ = {};
    framing_.synced = false;
  } else {
    framing_.discarding = true;  // The boundaries stay: drop this frame.
  }
}

}  // namespace waymark::frames
