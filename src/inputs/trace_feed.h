// The blocks of a trace that is not one piece of memory: it arrives, or it was recorded with marks.
#pragma once

#include <memory>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/live/recording.h"
#include "waymark/live/stream.h"

namespace waymark::inputs {

class TraceFeed {
 public:
  /// Blocks of `framing`, which are whole frames.
  TraceFeed(std::shared_ptr<live::Stream> stream, Framing framing);
  /// The same of a recording.
  TraceFeed(std::shared_ptr<live::Playback> recording, Framing framing);

  /// Nothing: the end.
  Result<std::optional<TraceEvent>> next(live::Milliseconds patience);

  /// Whether the trace arrives while it is read.
  [[nodiscard]] bool live() const { return recording_ == nullptr; }
  /// Only for a recording.
  void seek(TraceIndex index);
  void released() { stream_->released(); }
  /// The bytes of trace so far, in the form in which indexes count them.
  [[nodiscard]] TraceIndex position() const { return position_; }

 private:
  std::optional<TraceBlock> take(Bytes bytes);
  void append(Bytes bytes);

  std::shared_ptr<live::Stream> stream_;
  std::shared_ptr<live::Playback> recording_;
  Framing framing_;
  std::size_t alignment_ = 1;
  TraceIndex position_ = 0;
  std::vector<std::uint8_t> block_;  ///< The last block, if it was put together.
  std::vector<std::uint8_t> rest_;   ///< The beginning of a frame that has not arrived yet.
  std::size_t in_record_ = 0;        ///< Bytes of the DSTREAM record that has begun.
};

}  // namespace waymark::inputs
