#include "real_replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "piece.h"

namespace waymark::view {

KeyframeRange keyframes_around(const Keyframes& keyframes, double from, double to) {
  KeyframeRange range;
  bool found = false;
  for (std::size_t i = 0; i + 1 < keyframes.size(); ++i) {
    const Keyframe& begin = *keyframes[i];
    const Keyframe& end = *keyframes[i + 1];
    bool overlaps = false;
    bool is_before = true;
    for (std::size_t s = 0; s < begin.sources.size(); ++s) {
      const SourceAt& a = begin.sources[s];
      const SourceAt& b = end.sources[s];
      is_before = is_before && a.t <= from;
      overlaps = overlaps || (a.n != b.n && a.t <= to && b.t >= from);
    }
    if (overlaps) {
      if (!found) range.first = i;
      range.last = i + 1;
      found = true;
    } else if (!found && is_before) {
      range = {.first = i, .last = i + 1};
    }
  }
  return range;
}

RealReplay::RealReplay(PartDecoder& decoder, std::shared_ptr<const Known> known,
                       const AxisChoice& axis, const CodeList& codes)
    : decoder_(decoder), known_(std::move(known)), axis_(axis), codes_(codes) {
  for (const inputs::CaptureSource& source : decoder.capture().sources())
    sources_.push_back({.id = source.id});
}

KeyframeRange RealReplay::keyframes_of(const ReplayRange& range) const {
  const Keyframes& all = known_->keyframes;
  const std::size_t last = all.empty() ? 0 : all.size() - 1;
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  if (!range.from_instant) {
    KeyframeRange found = keyframes_around(all, range.from, range.to.value_or(range.from));
    if (!range.to) found.last = last;
    return found;
  }
  std::size_t first = 0;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    if (sources_[s].id != range.from_instant->source) continue;
    while (first + 1 < last && all[first + 1]->sources[s].n <= range.from_instant->n) ++first;
  }
  if (!range.to) return {.first = first, .last = last};
  const KeyframeRange end = keyframes_around(all, -kEnd, *range.to);
  return {.first = first, .last = std::max(end.last, std::min(first + 1, last))};
}

/// Whether the clock of each source has a point at or after where it was.
bool RealReplay::has_points_up_to(const std::vector<std::uint64_t>& ends) {
  if (axis_.unit == AxisUnit::kInstructions) return true;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const AxisClock::State& state = decoder_.clock().state(sources_[s].id);
    const bool passed_any = ends[s] != sources_[s].first;
    if (passed_any && (!state.is_set || state.n < ends[s])) return false;
  }
  return true;
}

Result<void> RealReplay::run(const ReplayRange& range, const Take& take, const Stop& stop) {
  const Keyframes& all = known_->keyframes;
  if (all.empty()) return {};
  const KeyframeRange part = keyframes_of(range);
  const Keyframe& from = *all[part.first];
  decoder_.set_sink(range.sink);
  const auto begun = decoder_.begin(from, axis_.unit, axis_.origin,
                                    [this](stacks::CodeId code) { return codes_.get(code); });
  if (!begun) return begun;
  for (std::size_t s = 0; s < sources_.size(); ++s) sources_[s].first = from.sources[s].n;
  std::vector<std::uint64_t> ends;
  const auto note_ends = [&] {
    ends.clear();
    for (const Source& each : sources_) ends.push_back(decoder_.n(each.id));
  };
  bool goes_on = true;
  const auto take_batch = [&](std::span<const Element> elements) {
    for (const Element& element : elements) {
      if (goes_on && !take(element, decoder_.n(element.trace_id))) {
        goes_on = false;
        decoder_.set_sink(nullptr);
        decoder_.observe({&element, 1});
        note_ends();
        continue;
      }
      decoder_.observe({&element, 1});
    }
    return goes_on || !has_points_up_to(ends);
  };
  std::size_t last = part.first;
  while (last < part.last) {
    const Keyframe& to = *all[last + 1];
    decoder_.set_limit(to.index);
    const auto step = decoder_.step(take_batch, stop);
    if (!step) {
      decoder_.set_sink(nullptr);
      return std::unexpected(step.error());
    }
    const bool is_end = *step == PartDecoder::Step::kEnd;
    if (is_end || (decoder_.index() >= to.index && !to.at_end)) ++last;
    if (is_end || *step == PartDecoder::Step::kStopped || (!goes_on && last > part.first)) {
      if (*step == PartDecoder::Step::kStopped) ++last;
      break;
    }
  }
  if (goes_on) note_ends();
  decoder_.set_sink(nullptr);
  keep(from, *all[std::min(last, all.size() - 1)], ends);
  return {};
}

void RealReplay::keep(const Keyframe& from, const Keyframe& to,
                      const std::vector<std::uint64_t>& ends) {
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    Source& source = sources_[s];
    source.end = ends[s];
    SourceAt until = to.sources[s];
    // The run may have ended before the keyframe, where the clock has a point already.
    const std::uint64_t clock = decoder_.clock().state(source.id).n;
    if (clock >= source.end && clock > source.first) until.next.reset();
    source.points =
        points_between(from.sources[s], until,
                       axis_.unit == AxisUnit::kInstructions && decoder_.executes(source.id),
                       decoder_.clock().take(source.id));
  }
}

const RealReplay::Source* RealReplay::source(TraceId id) const {
  const auto found = std::ranges::find(sources_, id, &Source::id);
  return found == sources_.end() ? nullptr : &*found;
}

double RealReplay::axis(TraceId source, std::uint64_t n) const {
  const Source* const of = this->source(source);
  return of == nullptr ? 0 : of->points.at(n);
}

std::optional<std::uint64_t> RealReplay::last_at(TraceId source, double at) const {
  const Source* const of = this->source(source);
  if (of == nullptr || of->end == of->first || of->points.at(of->first) > at) return std::nullopt;
  const std::uint64_t n = of->points.last_at(at);
  return std::clamp(n, of->first, of->end - 1);
}

std::uint64_t RealReplay::first(TraceId source) const {
  const Source* const of = this->source(source);
  return of == nullptr ? 0 : of->first;
}

}  // namespace waymark::view
