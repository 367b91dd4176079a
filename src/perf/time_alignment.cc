#include "waymark/perf/time_alignment.h"

#include <algorithm>
#include <variant>

namespace waymark::perf {
namespace {

/// An AUX record is written after its trace; the conversion of times is not exact.
constexpr std::uint64_t kTolerance = 1'000'000;

bool changes_memory(const TaskEvent& event) {
  return !std::holds_alternative<Exited>(event.what) &&
         !std::holds_alternative<TraceStarted>(event.what) &&
         !std::holds_alternative<Switched>(event.what);
}

bool any_in(const std::vector<std::uint64_t>& times, std::uint64_t after, std::uint64_t until) {
  const auto next = std::ranges::upper_bound(times, after);
  return next != times.end() && *next <= until;
}

}  // namespace

bool counts_virtual_time(const Unit& unit) {
  constexpr std::uint32_t kVirtual = 1;
  return unit.timestamp_source == kVirtual;
}

TimeAlignment::TimeAlignment(const Recording& recording) : recording_(recording) {
  const bool by_cpu = !recording.traces_contexts();
  for (const TaskEvent& event : recording.events) {
    if (changes_memory(event)) {
      changes_.push_back(event.time);
    } else if (by_cpu && event.cpu && !std::holds_alternative<Exited>(event.what)) {
      switches_[*event.cpu].push_back(event.time);
    }
  }
  std::ranges::sort(changes_);
  for (auto& [cpu, times] : switches_) std::ranges::sort(times);
}

bool TimeAlignment::matters(const Piece& piece) {
  const std::uint64_t until = piece.sample.time.value_or(~std::uint64_t{0});
  const auto [last, first] = ends_.try_emplace(recording_.buffers[piece.buffer].queue, 0);
  const std::uint64_t after = std::exchange(last->second, until);
  return any_in(changes_, after, until) || std::ranges::any_of(switches_, [&](const auto& cpu) {
           return any_in(cpu.second, after, until);
         });
}

bool TimeAlignment::happened(std::uint32_t cpu, std::uint64_t after, std::uint64_t until) const {
  if (any_in(changes_, after, until)) return true;
  const auto found = switches_.find(cpu);
  return found != switches_.end() && any_in(found->second, after, until);
}

void TimeAlignment::begin_piece(const Piece& piece, TraceIndex begin) {
  end_ = piece.sample.time;
  begin_ = begin;
  lines_.clear();
}

void TimeAlignment::on_timestamp(const Unit& unit, TraceIndex index, std::uint64_t cycles,
                                 bool whole) {
  if (!recording_.time || !unit.trace_id) return;
  std::vector<TimedPlace>& places = times_[*unit.trace_id];
  const auto [at, inserted] = lines_.try_emplace(*unit.trace_id);
  Line& line = at->second;
  if (inserted) line.kept = places.size();
  line.whole = line.whole || whole;
  // 0: the unit did not know the time.
  if (!line.whole || line.is_refused || cycles == 0) return;
  const std::uint64_t time = recording_.time->nanoseconds(cycles, unit.timestamp_bits());
  if (end_ && time > *end_ && time - *end_ > kTolerance) {
    line.is_refused = true;
    places.resize(line.kept);
    ++implausible_;
    return;
  }
  if (!line.time) {
    places.push_back({begin_, time});
  } else if (time < *line.time) {
    return;
  } else if (happened(unit.cpu, *line.time, time)) {
    places.push_back({line.last_break.value_or(line.index + 1), time});
  }
  line.time = time;
  line.index = index;
  line.last_break.reset();
}

void TimeAlignment::on_break(const Unit& unit, TraceIndex index) {
  if (!unit.trace_id) return;
  const auto line = lines_.find(*unit.trace_id);
  if (line != lines_.end() && line->second.time) line->second.last_break = index;
}

}  // namespace waymark::perf
