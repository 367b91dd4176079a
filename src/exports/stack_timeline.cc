#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "waymark/base/wide.h"
#include "waymark/exports/frame_name.h"
#include "waymark/exports/timelines.h"

namespace waymark::exports {

ToNanoseconds at_frequency(std::uint64_t ticks_per_second) {
  if (ticks_per_second == 0) return {};
  return [ticks_per_second](std::uint64_t ticks) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    constexpr Wide kMost = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::min(kMost, Wide{ticks} * kSecond / ticks_per_second));
  };
}

StackTimeline::StackTimeline(TimelineWriter& writer, const stacks::Tree& tree, ToNanoseconds clock,
                             TrackNamer names)
    : writer_(writer), tree_(tree), clock_(std::move(clock)), names_(std::move(names)) {}

std::uint64_t StackTimeline::converted(std::uint64_t time) const {
  return converts_ ? clock_(time) : time;
}

void StackTimeline::on_unit(stacks::TimeUnit unit) {
  unit_ = unit;
  converts_ = unit == stacks::TimeUnit::kTimestamps && clock_ != nullptr;
  writer_.begin({.nanoseconds = converts_, .words = std::string(stacks::words_of(unit))});
}

void StackTimeline::on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) {
  TrackNames names;
  if (names_) names = names_(source, thread);
  if (names.process.empty()) names.process = fmt::format("trace ID 0x{:02x}", source);
  if (names.thread.empty())
    names.thread = thread == 0 ? std::string("all") : fmt::format("context 0x{:x}", thread);
  if (tracks_.size() <= track) tracks_.resize(track + 1);
  tracks_[track] = writer_.add_track(names.process, names.thread);
}

void StackTimeline::on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId code,
                             stacks::Opening /*opening*/) {
  const auto [at, is_new] = codes_.try_emplace(code);
  if (is_new) at->second = writer_.add_name(frame_name(tree_.code(code)));
  writer_.open_slice(tracks_[track], converted(time), at->second);
}

void StackTimeline::on_leave(stacks::TrackId track, std::uint64_t time) {
  writer_.close_slice(tracks_[track], converted(time));
}

void StackTimeline::on_instant(stacks::TrackId track, std::uint64_t time, stacks::Instant what) {
  const auto [at, is_new] = instants_.try_emplace(static_cast<std::uint8_t>(what));
  if (is_new) {
    switch (what) {
      case stacks::Instant::kGap:
        at->second = writer_.add_name("gap in the trace");
        break;
      case stacks::Instant::kMissingCode:
        at->second = writer_.add_name("code is missing");
        break;
      case stacks::Instant::kUnwind:
        at->second = writer_.add_name("unwound");
        break;
      case stacks::Instant::kResync:
        at->second = writer_.add_name("unknown caller");
        break;
    }
  }
  writer_.instant(tracks_[track], converted(time), at->second);
}

}  // namespace waymark::exports
