#include "report_windows.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace waymark::view {
namespace {

/// The width of the timeline in which the busiest part is looked for.
constexpr std::uint32_t kWidth = 1024;
/// A window is at most this part of the capture.
constexpr double kLongest = 1.0 / 16;

/// Where the axis has the most instructions per unit; its middle.
double busiest(const Timeline& timeline, const std::vector<Track>& tracks) {
  double most = -1;
  double at = timeline.from;
  const auto take = [&](double start, double end, double weight) {
    if (end <= start || weight <= most) return;
    most = weight;
    at = start + (end - start) / 2;
  };
  for (const TrackPicture& picture : timeline.tracks) {
    for (const Bucket& bucket : picture.buckets) {
      take(bucket.start, bucket.end,
           static_cast<double>(bucket.instructions) / (bucket.end - bucket.start));
    }
    const auto track = std::ranges::find(tracks, picture.track, &Track::number);
    if (track == tracks.end() || track->name != "instructions") continue;
    for (const Point& point : picture.points) take(point.start, point.end, point.value);
  }
  return at;
}

/// A part of this length around a place, or shorter until its timeline has spans.
Result<std::optional<Window>> part_around(Session& session, double at, double length,
                                          const Stop& stop) {
  const double end = session.facts().axis.length;
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    Window window;
    window.from = std::clamp(at - length / 2, 0.0, std::max(0.0, end - length));
    window.to = std::min(end, window.from + length);
    if (window.to <= window.from) break;
    const auto timeline = session.timeline(window, 1, stop);
    if (!timeline) return std::unexpected(timeline.error());
    if (!timeline->summary) return window;
    length /= 4;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Window>> chosen_windows(Session& session, const Stop& stop) {
  const CaptureFacts facts = session.facts();
  std::uint64_t instructions = 0;
  for (const SourceFacts& source : facts.sources) instructions += source.instructions;
  std::vector<Window> result;
  if (instructions <= kWidth) return result;
  const auto timeline = session.timeline({.from = 0, .to = facts.axis.length}, kWidth, stop);
  if (!timeline) return std::unexpected(timeline.error());
  double share = kLongest;
  if (facts.bytes > 0 && facts.span_bytes > 0) {
    // Half of what may be drawn with spans, because trace is not spread evenly.
    share = std::min(share,
                     static_cast<double>(facts.span_bytes) / 2 / static_cast<double>(facts.bytes));
  }
  const double length = facts.axis.length * share;
  for (const double at : {0.0, busiest(*timeline, session.tracks())}) {
    auto window = part_around(session, at, length, stop);
    if (!window) return std::unexpected(std::move(window).error());
    if (!*window) continue;
    // The busiest part may be the first one.
    if (!result.empty() && (**window).from < result.front().to) continue;
    result.push_back(**window);
  }
  return result;
}

}  // namespace waymark::view
