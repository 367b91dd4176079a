#include "stack_watch.h"

#include <algorithm>
#include <utility>

#include "range_walk.h"

namespace waymark::view {

void StackWatch::begin(const stacks::Engine& engine) {
  begun_ = true;
  for (const stacks::OpenTrack& open : engine.tracks(true)) {
    if (open.track >= stacks_.size()) continue;
    std::vector<Frame>& frames = stacks_[open.track].frames;
    for (std::size_t i = 0; i < std::min(frames.size(), open.frames.size()); ++i)
      frames[i].call_address = open.frames[i].call_address;
  }
}

void StackWatch::expect(const Element& element) {
  Calls& calls = calls_[element.trace_id];
  calls.before = calls.now;
  if (is_range(element)) calls.now = element.end - element.last_size;
}

StackWatch::Stack* StackWatch::running(TraceId source) {
  const stacks::TrackId track = running_[source];
  return track < stacks_.size() ? &stacks_[track] : nullptr;
}

void StackWatch::on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) {
  if (stacks_.size() <= track) stacks_.resize(track + std::size_t{1});
  stacks_[track].source = source;
  stacks_[track].thread = thread;
}

void StackWatch::on_switch(TraceId source, stacks::TrackId track, std::uint64_t /*position*/) {
  running_[source] = track;
}

void StackWatch::on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                          stacks::Opening opening) {
  if (track >= stacks_.size()) return;
  Stack& stack = stacks_[track];
  const bool called = opening == stacks::Opening::kCall || opening == stacks::Opening::kTailCall;
  stack.frames.push_back({.code = code, .call_address = called ? calls_[stack.source].before : 0});
  if (begun_ && on_entered) on_entered(track, position, code, opening);
}

void StackWatch::on_leave(stacks::TrackId track, std::uint64_t /*position*/) {
  if (track < stacks_.size() && !stacks_[track].frames.empty()) stacks_[track].frames.pop_back();
}

void StackWatch::on_instant(stacks::TrackId, std::uint64_t, stacks::Instant) {}
void StackWatch::on_gap(TraceId, std::uint64_t) {}
void StackWatch::on_timestamp(TraceId, std::uint64_t, std::uint64_t) {}
void StackWatch::on_cycles(TraceId, std::uint64_t, std::uint64_t) {}

Result<void> SettledRun::run(ReplayRange range, const Visit& visit, const Stop& stop) {
  range.sink = &watch_;
  Element pending;
  std::uint64_t pending_n = 0;
  bool any = false;
  bool more = true;
  const auto settle = [&] {
    if (any && more) more = visit(pending, pending_n);
    any = false;
    return more;
  };
  bool first = true;
  const auto take = [&](const Element& element, std::uint64_t n) {
    if (std::exchange(first, false)) {
      first_index_ = element.index;
      watch_.begin(replay_.engine());
      if (on_begin) on_begin(element);
    }
    last_index_ = element.index;
    if (!settle()) return false;
    pending = element;
    pending_n = n;
    any = true;
    watch_.expect(element);
    return true;
  };
  WAYMARK_TRY(replay_.run(range, take, stop));
  settle();
  return {};
}

}  // namespace waymark::view
