// Events of call stacks, for timelines.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"
#include "waymark/stacks/tree.h"

namespace waymark::stacks {

/// One stack: a thread on one source.
using TrackId = std::uint32_t;

enum class Opening : std::uint8_t {
  kCall,
  kTailCall,
  kInferred,  ///< It was entered before, at a time that is not known.
  kResumed,   ///< The same frame was left at a gap.
  kHandler,   ///< The first function after an exception, which did not call it.
};

enum class Instant : std::uint8_t { kGap, kMissingCode, kUnwind, kResync };

/// Positions are the instructions that the source has executed before; they never decrease.
/// Frames of a track nest.  Called only for what happens on stacks, not for every range.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Comes before anything else of the track.  `thread`: as Options::owner says, or 0.
  virtual void on_track(TrackId track, TraceId source, std::uint64_t thread) = 0;
  /// From here on, the source executes this track.
  virtual void on_switch(TraceId source, TrackId track, std::uint64_t position) = 0;
  virtual void on_enter(TrackId track, std::uint64_t position, CodeId code, Opening opening) = 0;
  virtual void on_leave(TrackId track, std::uint64_t position) = 0;
  virtual void on_instant(TrackId track, std::uint64_t position, Instant what) = 0;
  /// Nothing is known of what the source did between this and the last thing that it did.
  virtual void on_gap(TraceId source, std::uint64_t position) = 0;
  virtual void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) = 0;
  /// The cycles since the previous count.
  virtual void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) = 0;
};

}  // namespace waymark::stacks
