// Where a run over a part of a capture may stop: sources give some of their packets late.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "waymark/frames/splitter.h"
#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

/// How far a source has come.
struct SourceProgress {
  TraceId id = 0;
  std::uint64_t bytes = 0;  ///< Bytes of its trace that were read.
};

/// The rules for the end of a window.  A source is done when it gave something from after the
/// window, when it read so much more that it cannot hold anything back, or when it has no more
/// trace.  Everything is done when all sources are.
class WindowEnd {
 public:
  /// After this many more bytes of a source, it cannot hold back anything of the window: far more
  /// than what can be uncommitted at a time.
  static constexpr std::uint64_t kHeldBack = std::uint64_t{1} << 20;

  WindowEnd() = default;
  /// Everything from `to` on is after the window.
  explicit WindowEnd(TraceIndex to) : to_(to) {}
  [[nodiscard]] TraceIndex to() const { return to_; }

  /// This source gave something at this index, in the window or not.
  void add(TraceId id, TraceIndex index) {
    if (index >= to_ && id < kTraceIdCount) passed_.set(id);
  }

  /// Whether nothing more can be in the window, now that the capture was read up to `index`.
  /// `has_more` says whether a source may have trace after that, and `leave` is called for sources
  /// that are done.  The sources are the same in each call.
  bool reached(TraceIndex index, std::span<const SourceProgress> sources,
               const std::function<bool(TraceId)>& has_more,
               const std::function<void(TraceId)>& leave);

  /// The same for a capture with its index.  The capture no longer reads sources that are done.
  bool reached(TraceIndex index, inputs::Capture& capture, Index& of_capture);

 private:
  TraceIndex to_ = kNoIndex;
  frames::IdSet passed_;                     ///< IDs that gave something after the window.
  std::vector<std::uint64_t> bytes_at_end_;  ///< How far each source was when the window ended.
};

}  // namespace waymark::index
