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

/// Where a source is at a keyframe.
struct SourceAt {
  std::uint64_t n = 0;  ///< As AxisPoint::n.
  double t = 0;         ///< Everything before it is not later, and everything after it not earlier.
  AxisClock::State clock{};
  /// The first point after the keyframe; nothing: there is none yet, or none at all.
  std::optional<AxisPoint> next{};
};

/// The state between two blocks of a capture, when all elements of the first one were given.
struct Keyframe {
  TraceIndex index = 0;
  bool at_end = false;  ///< The sources are finished: nothing comes after it.
  /// That of the decoders; nothing at the start.
  std::shared_ptr<const DecodeTree> decoders{};
  stacks::Engine::State stacks{};
  double recent = 0;  ///< AxisClock::recent().
  /// In the order of the sources of the capture.
  std::vector<SourceAt> sources{};
};

using KeyframePointer = std::shared_ptr<const Keyframe>;
/// Ascending; the first one is the start.
using Keyframes = std::vector<KeyframePointer>;

}  // namespace waymark::view
