#include "waymark/stacks/timeline.h"

#include <utility>

#include "waymark/base/wide.h"

namespace waymark::stacks {

std::string_view words_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kTimestamps:
      return "ticks of the timestamp generator";
    case TimeUnit::kCycles:
      return "cycles";
    case TimeUnit::kInstructions:
      return "instructions";
  }
  return {};
}

Timeline::Timeline(TimedSink& sink, const Options& options) : sink_(sink), options_(options) {
  if (options.unit == Choice::kBest) return;
  decided_ = true;
  unit_ = options.unit == Choice::kTimestamps ? TimeUnit::kTimestamps
          : options.unit == Choice::kCycles   ? TimeUnit::kCycles
                                              : TimeUnit::kInstructions;
  sink_.on_unit(unit_);
}

void Timeline::decide() {
  decided_ = true;
  sink_.on_unit(unit_);
  for (const Event& event : std::exchange(undecided_, {})) take_decided(event);
}

void Timeline::finish() {
  if (!decided_) {
    unit_ = saw_cycles_ ? TimeUnit::kCycles : TimeUnit::kInstructions;
    decide();
  }
  for (Clock& clock : clocks_) {
    clock.is_set = clock.is_set || unit_ == TimeUnit::kCycles;
    clock.left_out = clock.left_out || (!clock.is_set && !clock.waiting.empty());
    for (const Event& event : std::exchange(clock.waiting, {}))
      if (clock.is_set) give(event, clock.time);
  }
}

std::vector<TraceId> Timeline::timeless() const {
  std::vector<TraceId> ids;
  for (std::size_t id = 0; id < clocks_.size(); ++id)
    if (clocks_[id].left_out) ids.push_back(static_cast<TraceId>(id));
  return ids;
}

// ---- Events ---------------------------------------------------------------------------------

void Timeline::on_track(TrackId track, TraceId source, std::uint64_t thread) {
  if (tracks_.size() <= track) tracks_.resize(track + 1);
  tracks_[track].source = source;
  take({.value = thread, .track = track, .source = source, .kind = Kind::kTrack});
}

void Timeline::on_switch(TraceId source, TrackId track, std::uint64_t position) {
  Clock& clock = clocks_[source];
  if (clock.active < tracks_.size() && tracks_[clock.active].source == source)
    tracks_[clock.active].before += position - clock.active_from;
  clock.active = track;
  clock.active_from = position;
}

void Timeline::on_enter(TrackId track, std::uint64_t position, CodeId code, Opening opening) {
  take({.position = position,
        .value = code,
        .track = track,
        .source = tracks_[track].source,
        .kind = Kind::kEnter,
        .opening = opening});
}

void Timeline::on_leave(TrackId track, std::uint64_t position) {
  take({.position = position,
        .track = track,
        .source = tracks_[track].source,
        .kind = Kind::kLeave});
}

void Timeline::on_instant(TrackId track, std::uint64_t position, Instant what) {
  take({.position = position,
        .value = static_cast<std::uint64_t>(what),
        .track = track,
        .source = tracks_[track].source,
        .kind = Kind::kInstant});
}

void Timeline::on_gap(TraceId source, std::uint64_t position) {
  take({.position = position, .source = source, .kind = Kind::kGap});
}

void Timeline::on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) {
  take({.position = position, .value = time, .source = source, .kind = Kind::kTimestamp});
}

void Timeline::on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) {
  saw_cycles_ = true;
  take({.position = position, .value = cycles, .source = source, .kind = Kind::kCycles});
}

std::uint64_t Timeline::own_position(const Event& event) const {
  const Clock& clock = clocks_[event.source];
  const Track& track = tracks_[event.track];
  return track.before + (clock.active == event.track ? event.position - clock.active_from : 0);
}

void Timeline::take(Event event) {
  if (event.kind == Kind::kEnter || event.kind == Kind::kLeave || event.kind == Kind::kInstant)
    event.own = own_position(event);
  if (decided_) return take_decided(event);
  undecided_.push_back(event);
  if (event.kind == Kind::kTimestamp) {
    unit_ = TimeUnit::kTimestamps;
    decide();
  } else if (undecided_.size() >= kMaxWaiting) {
    unit_ = saw_cycles_ ? TimeUnit::kCycles : TimeUnit::kInstructions;
    decide();
  }
}

void Timeline::take_decided(const Event& event) {
  Clock& clock = clocks_[event.source];
  switch (event.kind) {
    case Kind::kTrack:
      sink_.on_track(event.track, event.source, event.value);
      return;
    case Kind::kEnter:
    case Kind::kLeave:
    case Kind::kInstant:
      hold(clock, event);
      return;
    case Kind::kGap: {
      if (unit_ == TimeUnit::kInstructions) return;
      if (unit_ == TimeUnit::kCycles) {
        for (const Event& each : std::exchange(clock.waiting, {})) give(each, clock.time);
        clock.position = event.position;
      } else {
        clock.is_after_gap = true;
        clock.gap = event.position;
        clock.before_gap = clock.waiting.size();
      }
      return;
    }
    case Kind::kCycles:
      if (unit_ == TimeUnit::kCycles) anchor(clock, event.position, clock.time + event.value);
      return;
    case Kind::kTimestamp:
      break;
  }
  if (unit_ != TimeUnit::kTimestamps) return;
  if (clock.is_set && event.value < clock.last) {
    ++backwards_;
    if (!clock.has_below || event.value < clock.below) {
      clock.has_below = true;
      clock.below = event.value;
      return;
    }
    // The clock was set: what is between the last two timestamps has passed.
    clock.shift = clock.time - clock.below;
  }
  clock.has_below = false;
  clock.last = event.value;
  anchor(clock, event.position, event.value + clock.shift);
}

void Timeline::anchor(Clock& clock, std::uint64_t position, std::uint64_t time) {
  const bool spreads = clock.is_set || unit_ == TimeUnit::kCycles;
  const bool ends_gap = spreads && clock.is_after_gap && clock.gap == position;
  const std::uint64_t instructions = position - clock.position;
  std::size_t number = 0;
  for (const Event& event : std::exchange(clock.waiting, {})) {
    std::uint64_t own = time;
    if (ends_gap) {
      if (number < clock.before_gap) own = clock.time;
    } else if (spreads && instructions != 0) {
      own =
          clock.time + static_cast<std::uint64_t>(Wide{time - clock.time} *
                                                  (event.position - clock.position) / instructions);
    }
    give(event, own);
    ++number;
  }
  clock.position = position;
  clock.time = time;
  clock.is_set = true;
  clock.is_after_gap = false;
}

void Timeline::hold(Clock& clock, const Event& event) {
  if (unit_ == TimeUnit::kInstructions)
    return give(event, options_.tracks_apart ? event.own : event.position);
  if (clock.left_out) return;
  clock.waiting.push_back(event);
  if (clock.waiting.size() < kMaxWaiting) return;
  if (clock.is_set || unit_ == TimeUnit::kCycles) {
    for (const Event& each : std::exchange(clock.waiting, {})) give(each, clock.time);
    clock.position = event.position;
    clock.before_gap = 0;
  } else {
    clock.left_out = true;
    clock.waiting.clear();
  }
}

void Timeline::give(const Event& event, std::uint64_t time) {
  sink_.on_instructions(event.track, event.own);
  switch (event.kind) {
    case Kind::kEnter:
      sink_.on_enter(event.track, time, static_cast<CodeId>(event.value), event.opening);
      break;
    case Kind::kLeave:
      sink_.on_leave(event.track, time);
      break;
    case Kind::kInstant:
      sink_.on_instant(event.track, time, static_cast<Instant>(event.value));
      break;
    default:
      break;
  }
}

}  // namespace waymark::stacks
