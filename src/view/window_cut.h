// Which instructions are in a window of the axis.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "knowledge.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// A place of the axis as each source sees it.
struct AxisEdge {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  /// By source: its first instruction that begins there or later; kNever: it executes none after.
  std::array<std::uint64_t, kTraceIdCount> first{};
  TraceIndex index = 0;  ///< About where this is in the trace.
};

/// kInvalidArgument: the place is not a number.
Result<AxisEdge> edge_at(Replay& replay, double at, const Stop& stop);

/// A window, cut into the instructions of each source.
struct WindowCut {
  double from = 0;
  double to = 0;
  AxisEdge begin{};
  AxisEdge end{};
  std::set<TrackNumber> tracks{};  ///< Empty: all.

  /// Whether an instruction, or what happens before it, is in the window.
  [[nodiscard]] bool contains(TraceId source, std::uint64_t n) const {
    return source < kTraceIdCount && n >= begin.first[source] && n < end.first[source];
  }
  [[nodiscard]] bool has_track(TrackNumber track) const {
    return tracks.empty() || tracks.contains(track);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return end.index > begin.index ? end.index - begin.index : 0;
  }
};

/// The window is first cut to the axis.  kInvalidArgument: its ends are not numbers, or in the
/// wrong order.
Result<WindowCut> cut_window(Replay& replay, const Window& window, const Knowledge& knowledge,
                             const Stop& stop);

/// The instruction that each source reached.
using Reached = std::array<std::uint64_t, 256>;

/// Decodes a window by calls of `decode`, each from a place of the axis on, at most this many bytes
/// of the trace; nothing: up to the end of the window.  A window of more than
/// AnswerLimits::window_bytes is sampled: evenly spread parts of it are decoded, this many bytes in
/// total.  For each part, `cut` begins where the part begins.  False: it was sampled.
Result<bool> decode_window(
    Replay& replay, WindowCut& cut, const AnswerLimits& limits, const Stop& stop,
    const std::function<Result<Reached>(double from, std::optional<std::uint64_t> most)>& decode);

/// The error of an answer that `stop` ended.
std::unexpected<Error> stopped();

}  // namespace waymark::view
