#include "trace_feed.h"

#include <algorithm>
#include <utility>

#include "waymark/frames/dstream.h"

namespace waymark::inputs {

TraceFeed::TraceFeed(std::shared_ptr<live::Stream> stream, Framing framing)
    : stream_(std::move(stream)), framing_(framing) {
  if (const auto options = frame_options(framing)) alignment_ = options->alignment();
}

TraceFeed::TraceFeed(std::shared_ptr<live::Playback> recording, Framing framing)
    : TraceFeed(std::shared_ptr<live::Stream>(recording), framing) {
  recording_ = std::move(recording);
}

Result<std::optional<TraceEvent>> TraceFeed::next(live::Milliseconds patience) {
  while (true) {
    const auto piece = stream_->next(patience);
    if (!piece) return std::unexpected(piece.error());
    TraceEvent event{.arrival = piece->arrival};
    switch (piece->kind) {
      case live::PieceKind::kEnd:
        return std::nullopt;
      case live::PieceKind::kIdle:
        event.kind = TraceEvent::Kind::kIdle;
        return event;
      case live::PieceKind::kRelease:
        event.kind = TraceEvent::Kind::kRelease;
        return event;
      case live::PieceKind::kGap:
        // A frame that had begun is lost; its bytes have their places.
        position_ += rest_.size();
        rest_.clear();
        in_record_ = 0;
        event.kind = TraceEvent::Kind::kGap;
        event.block.index = position_;
        return event;
      case live::PieceKind::kBytes:
        break;
    }
    if (const auto block = take(piece->bytes)) {
      event.block = *block;
      return event;
    }
  }
}

std::optional<TraceBlock> TraceFeed::take(Bytes bytes) {
  const bool is_whole =
      framing_ != Framing::kDstream && rest_.empty() && bytes.size() % alignment_ == 0;
  if (!is_whole) {
    block_ = std::exchange(rest_, {});
    append(bytes);
    const std::size_t size = block_.size() / alignment_ * alignment_;
    rest_.assign(block_.begin() + static_cast<std::ptrdiff_t>(size), block_.end());
    bytes = Bytes(block_).first(size);
  }
  if (bytes.empty()) return std::nullopt;
  const TraceBlock block{.index = position_, .bytes = bytes};
  position_ += bytes.size();
  return block;
}

/// Without the footers of DSTREAM records.
void TraceFeed::append(Bytes bytes) {
  if (framing_ != Framing::kDstream) {
    block_.insert(block_.end(), bytes.begin(), bytes.end());
    return;
  }
  while (!bytes.empty()) {
    const bool is_payload = in_record_ < frames::kDstreamPayloadSize;
    const std::size_t end = is_payload ? frames::kDstreamPayloadSize : frames::kDstreamRecordSize;
    const std::size_t size = std::min(bytes.size(), end - in_record_);
    if (is_payload)
      block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
    in_record_ = (in_record_ + size) % frames::kDstreamRecordSize;
  }
}

void TraceFeed::seek(TraceIndex index) {
  rest_.clear();
  in_record_ = 0;
  position_ = index;
  std::uint64_t offset = index;
  if (framing_ == Framing::kDstream) {
    in_record_ = in_memory(index % frames::kDstreamPayloadSize);
    offset = index / frames::kDstreamPayloadSize * frames::kDstreamRecordSize + in_record_;
  }
  if (recording_ != nullptr) recording_->seek(offset);
}

}  // namespace waymark::inputs
