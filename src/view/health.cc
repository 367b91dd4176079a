#include "health.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace waymark::view {
namespace {

std::string name_of(std::span<const Track> tracks, TrackNumber number) {
  const auto found = std::ranges::find(tracks, number, &Track::number);
  if (found == tracks.end()) return "A source";
  if (found->group.empty()) return found->name;
  return found->thread.empty() ? found->group : fmt::format("{}, {}", found->group, found->thread);
}

/// Nothing: no bucket has a gap.
std::optional<HealthFinding> gaps_of(const Overview& overview, TrackNumber number,
                                     const OverviewTrack& track, const std::string& name) {
  double sum = 0;
  std::optional<double> first;
  for (const OverviewBucket& bucket : track.buckets) {
    if (!(bucket.gaps > 0)) continue;
    sum += bucket.gaps;
    if (!first) first = static_cast<double>(bucket.number) * overview.width();
  }
  if (!first) return std::nullopt;
  const double length = track.last - track.first;
  const double share = length > 0 ? std::min(1.0, sum / length) : 1;
  return HealthFinding{
      .severity = Severity::kNote,
      .title = fmt::format("{}: it is not known what executed in {:.1f} % of the time", name,
                           100 * share),
      .text =
          "Nothing was traced there, trace was lost, or there is no code for what executed. The "
          "first "
          "such place is shown.",
      .at = std::max(*first, track.first),
      .track = number,
      .count = 1};
}

std::optional<HealthFinding> overflows_of(TrackNumber number, const OverviewTrack& track,
                                          const std::string& name) {
  std::uint64_t count = 0;
  const Mark* first = nullptr;
  for (const Mark& mark : track.marks) {
    if (mark.kind != "overflow") continue;
    count += mark.count;
    if (first == nullptr) first = &mark;
  }
  if (first == nullptr) return std::nullopt;
  return HealthFinding{
      .severity = Severity::kWarning,
      .title = count == 1 ? fmt::format("{}: trace was lost once in an overflow", name)
                          : fmt::format("{}: trace was lost {} times in overflows", name, count),
      .text =
          "The trace unit made more trace than its buffer could hold. Trace less: a filter, no "
          "cycle counts, fewer timestamps, no branch broadcasting. The first place is shown.",
      .at = first->at,
      .track = number,
      .count = count};
}

}  // namespace

Result<std::vector<std::string>> Problems::get(const Ask& ask, const Stop& stop) {
  if (!ask) return std::vector<std::string>();
  const std::scoped_lock lock(mutex_);
  if (!known_) {
    auto found = ask(stop);
    if (!found) return std::unexpected(std::move(found).error());
    known_ = *std::move(found);
  }
  return *known_;
}

HealthFinding reading_failed(const std::string& failure, double reached) {
  return {.severity = Severity::kError,
          .title = "The capture could not be read to its end",
          .text = failure + " The trace after this place is not shown.",
          .at = reached,
          .count = 1};
}

HealthFinding finding_of(const std::string& sentences) {
  HealthFinding finding{.severity = Severity::kWarning, .title = sentences, .count = 1};
  const std::size_t end = sentences.find(". ");
  if (end == std::string::npos) {
    if (finding.title.ends_with('.')) finding.title.pop_back();
  } else {
    finding.title = sentences.substr(0, end);
    finding.text = sentences.substr(end + 2);
  }
  return finding;
}

std::vector<HealthFinding> places_of_loss(const Overview& overview, std::span<const Track> tracks) {
  std::vector<HealthFinding> findings;
  const auto keep = [&](std::optional<HealthFinding> finding) {
    if (finding) findings.push_back(*std::move(finding));
  };
  for (const auto& [number, track] : overview.tracks()) {
    const std::string name = name_of(tracks, number);
    if (is_thread_track(number)) {
      keep(gaps_of(overview, number, track, name));
    } else {
      keep(overflows_of(number, track, name));
    }
  }
  std::ranges::stable_sort(findings, {}, &HealthFinding::severity);
  return findings;
}

}  // namespace waymark::view
