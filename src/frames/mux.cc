#include "waymark/frames/mux.h"

#include <fmt/core.h>

#include <utility>

namespace waymark::frames {
namespace {

constexpr TraceId kMaxMuxId = 0x7E;
constexpr unsigned kFlagByte = 15;
constexpr unsigned kLastId = 14;

}  // namespace

Result<void> Mux::write(TraceId id, Bytes bytes) {
  if (id > kMaxMuxId && (id != kNoTraceId || id_ != kNoTraceId))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("Trace ID {:#04x} cannot be put into frames; use 0x00 to {:#04x}.", id,
                            kMaxMuxId),
                kNoIndex, id);
  for (const std::uint8_t byte : bytes) {
    if (id != id_) {
      change_id(id);
    } else if (at_ == 0 && options_.id_repeat != 0 && plain_ >= options_.id_repeat &&
               id_ != kNoTraceId) {
      put_id(id, false);
    }
    put_data(byte);
  }
  return {};
}

// Called when a byte of `id` is available, so that each ID byte except one at the end of a frame is
// followed by data.  At an odd place, the byte before it is data of the old ID.
void Mux::change_id(TraceId id) {
  if (at_ % 2 == 0) {
    put_id(id, false);
    return;
  }
  // The last byte moves from its even place to the odd one; an ID byte takes the even place.
  const unsigned even = at_ - 1;
  const unsigned flag = 1U << (even / 2);
  const auto last =
      static_cast<std::uint8_t>(frame_[even] | ((frame_[kFlagByte] & flag) != 0 ? 1 : 0));
  frame_[kFlagByte] = static_cast<std::uint8_t>(frame_[kFlagByte] & ~flag);
  at_ = even;
  const bool delayed = options_.delayed_id_changes || id_ == kNoTraceId;
  put_id(delayed ? id : id_, delayed);
  put_data(last);
  if (!delayed) put_id(id, false);
}

void Mux::put_id(TraceId id, bool delayed) {
  frame_[at_] = static_cast<std::uint8_t>(id << 1 | 1);
  if (delayed) frame_[kFlagByte] = static_cast<std::uint8_t>(frame_[kFlagByte] | 1U << (at_ / 2));
  id_ = id;
  has_id_ = true;
  ++at_;
  end_frame();
}

void Mux::put_data(std::uint8_t byte) {
  if (at_ % 2 != 0) {
    frame_[at_] = byte;
  } else {
    frame_[at_] = byte & 0xFE;
    frame_[kFlagByte] = static_cast<std::uint8_t>(frame_[kFlagByte] | (byte & 1) << (at_ / 2));
  }
  ++at_;
  end_frame();
}

void Mux::end_frame() {
  if (at_ <= kLastId) return;
  emit_frame();
  plain_ = has_id_ ? 0 : plain_ + 1;
  has_id_ = false;
  at_ = 0;
  frame_ = {};
}

void Mux::emit_frame() {
  if (options_.fsync_period != 0 && frames_ % options_.fsync_period == 0)
    out_.insert(out_.end(), kFsyncBytes.begin(), kFsyncBytes.end());
  ++frames_;
  for (unsigned i = 0; i < kFrameSize; i += 2) {
    if (options_.hsync_period != 0 && ++pairs_ >= options_.hsync_period) {
      out_.insert(out_.end(), {0xFF, 0x7F});
      pairs_ = 0;
    }
    out_.insert(out_.end(), {frame_[i], frame_[i + 1]});
  }
}

void Mux::finish() {
  if (at_ == 0) return;
  const std::uint64_t frames = frames_;
  if (id_ != 0) change_id(0);
  while (frames_ == frames) put_data(0);
}

void Mux::append_reset() {
  finish();
  for (int i = 0; i < 4; ++i) out_.insert(out_.end(), kFsyncBytes.begin(), kFsyncBytes.end());
  id_ = kNoTraceId;
}

std::vector<std::uint8_t> Mux::take() { return std::exchange(out_, {}); }

}  // namespace waymark::frames
