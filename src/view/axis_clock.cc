#include "axis_clock.h"

#include <algorithm>
#include <cmath>

namespace waymark::view {

double AxisPoints::at(std::uint64_t n) const {
  const auto after = std::ranges::upper_bound(points_, n, {}, &AxisPoint::n);
  if (after == points_.begin()) return points_.empty() ? 0 : after->t;
  const AxisPoint& from = *std::prev(after);
  if (after == points_.end() || from.n == n) return from.t;
  return from.t + (after->t - from.t) *
                      (static_cast<double>(n - from.n) / static_cast<double>(after->n - from.n));
}

double AxisPoints::before(std::uint64_t n) const {
  const auto found = std::ranges::lower_bound(points_, n, {}, &AxisPoint::n);
  if (found != points_.end() && found->n == n) return found->t;
  return at(n);
}

double AxisPoints::between(std::uint64_t n, std::size_t points) const {
  if (points_.empty()) return 0;
  if (points == 0) return points_.front().t;
  const AxisPoint& from = points_[std::min(points, points_.size()) - 1];
  if (points >= points_.size()) return from.t;
  const AxisPoint& to = points_[points];
  if (n >= to.n) return to.t;
  if (n <= from.n) return from.t;
  return from.t +
         (to.t - from.t) * (static_cast<double>(n - from.n) / static_cast<double>(to.n - from.n));
}

std::uint64_t AxisPoints::last_at(double t) const {
  const auto after = std::ranges::upper_bound(points_, t, {}, &AxisPoint::t);
  if (after == points_.begin()) return points_.empty() ? 0 : after->n;
  const AxisPoint& from = *std::prev(after);
  if (after == points_.end() || after->t <= from.t || after->n == from.n) return from.n;
  const double part = (t - from.t) / (after->t - from.t);
  const auto passed =
      static_cast<std::uint64_t>(std::floor(part * static_cast<double>(after->n - from.n)));
  std::uint64_t n = std::min(from.n + passed, after->n);
  // The value of at() decides.
  while (n > from.n && at(n) > t) --n;
  while (n < after->n && at(n + 1) <= t) ++n;
  return n;
}

void AxisClock::add(TraceId id, std::uint64_t n, double t) {
  State& state = states_[id];
  state.n = n;
  state.t = t;
  recent_ = t;
  made_[id].push_back({n, t});
}

void AxisClock::on_gap(TraceId id, std::uint64_t n) {
  State& state = states_[id];
  switch (unit_) {
    case AxisUnit::kTicks:
    case AxisUnit::kNanoseconds:
      if (!state.is_set) state.n = n;
      state.is_after_gap = true;
      state.gap = n;
      return;
    case AxisUnit::kCycles:
      return add(id, n, state.t);
    default:
      return;
  }
}

void AxisClock::on_timestamp(TraceId id, std::uint64_t n, std::uint64_t time) {
  set_time(id, n, time, false);
}

void AxisClock::set_time(TraceId id, std::uint64_t n, std::uint64_t time, bool is_of_those_before) {
  if (unit_ != AxisUnit::kTicks && unit_ != AxisUnit::kNanoseconds) return;
  State& state = states_[id];
  if (state.is_set && time < state.last) {
    if (!state.has_below || time < state.below) {
      state.has_below = true;
      state.below = time;
      return;
    }
    // The clock was set: what is between the last two timestamps has passed.
    state.shift = state.time - state.below;
  }
  state.has_below = false;
  state.last = time;
  state.time = std::max(time + state.shift, state.is_set ? state.time : origin_);
  const auto t = static_cast<double>(state.time - origin_);
  if (!state.is_set || is_of_those_before) {
    add(id, state.n, t);
  } else if (state.is_after_gap && state.gap == n) {
    add(id, n, state.t);
  }
  add(id, n, t);
  state.is_set = true;
  state.is_after_gap = false;
}

void AxisClock::on_cycles(TraceId id, std::uint64_t n, std::uint64_t cycles) {
  if (unit_ != AxisUnit::kCycles) return;
  State& state = states_[id];
  if (!state.is_set) add(id, 0, 0);
  state.is_set = true;
  add(id, n, state.t + static_cast<double>(cycles));
}

void AxisClock::on_element(TraceId id, std::uint64_t n, TraceIndex index,
                           const std::optional<ElementTime>& time) {
  State& state = states_[id];
  if (unit_ == AxisUnit::kBytes) return add(id, n, std::max(static_cast<double>(index), state.t));
  if ((unit_ == AxisUnit::kTicks || unit_ == AxisUnit::kNanoseconds) && time) {
    return set_time(id, n, time->time, time->is_of_those_before);
  }
  if (!state.is_set) add(id, n, std::max(recent_, state.t));
}

}  // namespace waymark::view
