#include "waymark/interval/intervals.h"

#include <algorithm>

#include "waymark/base/wide.h"

namespace waymark::interval {
namespace {

/// The time that the element itself gives.
std::optional<std::uint64_t> time_of(const Element& element) {
  const bool has = (element.flags & kElementHasTimestamp) != 0;
  const bool partial = (element.flags & kElementTimeIsPartial) != 0;
  switch (element.kind) {
    case ElementKind::kTimestamp:
      return has && !partial ? std::optional(element.timestamp) : std::nullopt;
    case ElementKind::kSwTrace:
    case ElementKind::kCustom:
      return has ? std::optional(element.timestamp) : std::nullopt;
    case ElementKind::kItmTrace:
      return is_local_timestamp(element) ? std::optional(element.timestamp) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_gap(const Element& element) {
  return element.kind == ElementKind::kNoSync || element.kind == ElementKind::kTraceOn ||
         (element.kind == ElementKind::kItmTrace && (element.extra & kItmOverflow) != 0);
}

}  // namespace

std::string_view unit_name(Unit unit) {
  constexpr std::string_view kNames[] = {"time", "cycles", "instructions"};
  return kNames[static_cast<std::size_t>(unit)];
}

void Lengths::add(const Interval& interval) {
  distribution.add(interval.length);
  if (!shortest || interval.length < shortest->length) shortest = interval;
  if (!longest || interval.length > longest->length) longest = interval;
}

void Lengths::add(const Lengths& other) {
  distribution.add(other.distribution);
  const auto place = [](const Interval& it) { return std::pair(it.length, it.from); };
  if (other.shortest && (!shortest || place(*other.shortest) < place(*shortest)))
    shortest = other.shortest;
  // Of equal ones, the first in the trace.
  if (other.longest &&
      (!longest || other.longest->length > longest->length ||
       (other.longest->length == longest->length && other.longest->from < longest->from)))
    longest = other.longest;
}

std::uint64_t Intervals::at(const Clock& clock, const Mark& mark, std::uint64_t next_value) const {
  if (mark.exact) return *mark.exact;
  if (next_value < clock.value) return clock.value;
  // Without instructions between, as in an ITM, the time comes after what it is the time of.
  if (position_ <= clock.position) return next_value;
  const std::uint64_t done = std::clamp(mark.position, clock.position, position_) - clock.position;
  return clock.value + static_cast<std::uint64_t>(Wide{next_value - clock.value} * done /
                                                  (position_ - clock.position));
}

void Intervals::record(Unit unit, const Pair& pair, std::uint64_t begin, std::uint64_t end) {
  lengths_[static_cast<std::size_t>(unit)].add(
      {pair.from.index, pair.to.index, begin, end < begin ? 0 : end - begin});
}

/// Waiting events get their time, now that the clock is read again.
void Intervals::settle(Unit unit, std::uint64_t next_value) {
  Clock& clock = clocks_[static_cast<std::size_t>(unit)];
  // It is unknown how long the instructions before the first time took.
  const bool blind = !clock.known && position_ > clock.position;
  for (const Pair& pair : clock.waiting) {
    if (!blind || (pair.from.exact && pair.to.exact))
      record(unit, pair, at(clock, pair.from, next_value), at(clock, pair.to, next_value));
  }
  clock.waiting.clear();
  if (!open_ || clock.begin) return;
  if (blind && !open_->exact) {
    clock.lost = true;
  } else {
    clock.begin = at(clock, *open_, next_value);
  }
}

void Intervals::read_clock(Unit unit, std::uint64_t value) {
  Clock& clock = clocks_[static_cast<std::size_t>(unit)];
  has_[static_cast<std::size_t>(unit)] = true;
  if (!clock.known) clock.value = value;
  settle(unit, value);
  clock.known = true;
  clock.value = std::max(clock.value, value);
  clock.position = position_;
}

void Intervals::happen(End end, const Element& element, std::uint64_t instructions) {
  const Mark mark{element.index, position_ + instructions,
                  element.kind == ElementKind::kSwTrace || element.kind == ElementKind::kCustom
                      ? time_of(element)
                      : std::nullopt};
  if (end == End::kFrom) {
    ++begun_;
    open_ = mark;
    for (Clock& clock : clocks_) {
      clock.begin.reset();
      clock.lost = false;
    }
    return;
  }
  ++ended_;
  if (!open_) return;
  ++pairs_;
  const Pair pair{*open_, mark};
  open_.reset();
  record(Unit::kInstructions, pair, pair.from.position, pair.to.position);
  for (Clock& clock : clocks_) {
    if (clock.lost) continue;
    Pair waiting = pair;
    // The clock was read between the two.
    if (clock.begin) waiting.from.exact = clock.begin;
    clock.waiting.push_back(waiting);
    if (clock.waiting.size() > kMostOpen) clock.waiting.pop_front();
  }
}

/// Waiting events get no time: it is not known how long the trace stopped.
void Intervals::lose() {
  open_.reset();
  for (Clock& clock : clocks_) {
    std::erase_if(clock.waiting,
                  [](const Pair& pair) { return !pair.from.exact || !pair.to.exact; });
    clock.begin.reset();
    clock.lost = clock.known = false;
    clock.position = position_;
  }
}

void Intervals::observe(const Element& element) {
  if (element.kind == ElementKind::kInstrRange || element.kind == ElementKind::kInstrRangeNoPath) {
    position_ += element.count;
    has_[static_cast<std::size_t>(Unit::kInstructions)] = true;
  }
  if ((element.flags & kElementHasCycleCount) != 0 && element.cycle_count != 0 &&
      element.kind != ElementKind::kTimestamp) {
    cycles_ += element.cycle_count;
    read_clock(Unit::kCycles, cycles_);
  }
  if (const auto time = time_of(element)) read_clock(Unit::kTime, *time);
  if (is_gap(element)) lose();
}

void Intervals::finish() {
  lose();
  // The rest has times of its own.
  settle(Unit::kTime, 0);
}

}  // namespace waymark::interval
