#include "window_cut.h"

#include <algorithm>
#include <cmath>

#include "range_walk.h"

namespace waymark::view {
namespace {

/// Parts of a window that is too large.
constexpr unsigned kSamples = 16;

/// The instructions that a run passed, of one source.
struct Passed {
  std::uint64_t first = 0;
  std::uint64_t after = 0;
  bool any = false;
};

/// The first of them that begins at `at` or later; `after`: none.
std::uint64_t first_from(const Replay& replay, TraceId source, const Passed& passed, double at) {
  std::uint64_t low = passed.first;
  std::uint64_t high = passed.after;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (replay.axis(source, middle) < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::unexpected<Error> stopped() {
  return fail(ErrorCode::kLimit, "The request took too long, or its client has disconnected.");
}

Result<AxisEdge> edge_at(Replay& replay, double at, const Stop& stop) {
  if (!std::isfinite(at))
    return fail(ErrorCode::kInvalidArgument, "A place of the axis must be a finite number.");
  AxisEdge edge;
  edge.first.fill(AxisEdge::kNever);
  std::array<Passed, kTraceIdCount> passed{};
  const auto take = [&](const Element& element, std::uint64_t n) {
    edge.index = element.index;
    if (!is_range(element) || element.trace_id >= kTraceIdCount) return true;
    Passed& of_source = passed[element.trace_id];
    if (!of_source.any) of_source = {.first = n, .after = n, .any = true};
    of_source.after = n + element.count;
    return true;
  };
  WAYMARK_TRY(replay.run({.from = at, .from_instant = {}, .to = at}, take, stop));
  for (std::size_t id = 0; id < kTraceIdCount; ++id)
    if (passed[id].any)
      edge.first[id] = first_from(replay, static_cast<TraceId>(id), passed[id], at);
  return edge;
}

Result<WindowCut> cut_window(Replay& replay, const Window& window, const Knowledge& knowledge,
                             const Stop& stop) {
  if (!std::isfinite(window.from) || !std::isfinite(window.to) || window.from > window.to) {
    return fail(ErrorCode::kInvalidArgument,
                "The ends of the window must be numbers, and the first one must not be greater "
                "than the second one.");
  }
  const double length = knowledge.axis ? knowledge.axis().length : window.to;
  WindowCut cut;
  cut.from = std::clamp(window.from, 0.0, length);
  cut.to = std::clamp(window.to, 0.0, length);
  cut.tracks.insert(window.tracks.begin(), window.tracks.end());
  if (window.to < 0 || window.from > length) {
    // Nothing is there.
    cut.begin.first.fill(AxisEdge::kNever);
    cut.end.first.fill(0);
    return cut;
  }
  auto begin = edge_at(replay, cut.from, stop);
  if (!begin) return std::unexpected(std::move(begin).error());
  cut.begin = *begin;
  if (window.from <= 0) cut.begin.first.fill(0);
  auto end = edge_at(replay, cut.to, stop);
  if (!end) return std::unexpected(std::move(end).error());
  cut.end = *end;
  if (window.to >= length) cut.end.first.fill(AxisEdge::kNever);
  return cut;
}

Result<bool> decode_window(
    Replay& replay, WindowCut& cut, const AnswerLimits& limits, const Stop& stop,
    const std::function<Result<Reached>(double from, std::optional<std::uint64_t> most)>& decode) {
  if (cut.bytes() <= limits.window_bytes) {
    const auto done = decode(cut.from, {});
    if (!done) return std::unexpected(done.error());
    return true;
  }
  for (unsigned i = 0; i < kSamples; ++i) {
    if (stop && stop()) return stopped();
    const double from = cut.from + (cut.to - cut.from) * i / kSamples;
    const auto begin = edge_at(replay, from, stop);
    if (!begin) return std::unexpected(begin.error());
    // No instruction counts twice.
    for (std::size_t id = 0; id < kTraceIdCount; ++id)
      cut.begin.first[id] = std::max(cut.begin.first[id], begin->first[id]);
    const auto reached = decode(from, limits.window_bytes / kSamples);
    if (!reached) return std::unexpected(reached.error());
    for (std::size_t id = 0; id < kTraceIdCount; ++id)
      cut.begin.first[id] = std::max(cut.begin.first[id], (*reached)[id]);
  }
  return false;
}

}  // namespace waymark::view
