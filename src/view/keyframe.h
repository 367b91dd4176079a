// Places of a capture from which it can be decoded again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "axis_clock.h"
#include "waymark/stacks/engine.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::view {

/// Where the elements of a source go on after a keyframe, for decoders that began earlier: at the
/// first element with this index or a later one, without this many.
struct ResumePoint {
  TraceIndex index = kNoIndex;
  std::uint64_t skip = 0;
  bool operator==(const ResumePoint&) const = default;
};

/// Where the tree of decoders begins, if it has no state: early enough to be exact at a keyframe.
struct DecoderEntry {
  TraceIndex index = 0;
  TraceId current_id = kNoTraceId;  ///< As in index::Entry.
  bool from_start = true;
};

/// Where a source is at a keyframe.
struct SourceAt {
  std::uint64_t n = 0;  ///< As AxisPoint::n.
  double t = 0;         ///< Everything before it is not later, and everything after it not earlier.
  AxisClock::State clock{};
  /// The first point after the keyframe; nothing: there is none yet, or none at all.
  std::optional<AxisPoint> next{};
  ResumePoint resume{};
  TraceIndex first = kNoIndex;  ///< With an entry: where the source begins; kNoIndex: not at all.
};

/// The state between two blocks of a capture, when all elements of the first one were given.
struct Keyframe {
  TraceIndex index = 0;
  bool at_end = false;  ///< The sources are finished: nothing comes after it.
  /// The state of the decoders; without it, there is an entry, except at the start and the end.
  std::shared_ptr<const DecodeTree> decoders{};
  std::optional<DecoderEntry> entry{};
  std::uint64_t elements = 0;  ///< How many came before it.
  stacks::Engine::State stacks{};
  double recent = 0;  ///< AxisClock::recent().
  /// In the order of the sources of the capture.
  std::vector<SourceAt> sources{};
};

using KeyframePointer = std::shared_ptr<const Keyframe>;
/// Ascending; the first one is the start.
using Keyframes = std::vector<KeyframePointer>;

}  // namespace waymark::view
