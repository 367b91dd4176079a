#include "waymark/merge/timeline.h"

#include <algorithm>
#include <utility>

#include "waymark/base/wide.h"

namespace waymark::merge {
namespace {

/// True for an element that gives the time of the system.
bool states_time(const Element& element) {
  switch (element.kind) {
    case ElementKind::kTimestamp:
    case ElementKind::kSwTrace:
    case ElementKind::kCustom:
      return (element.flags & kElementHasTimestamp) != 0;
    case ElementKind::kItmTrace:
      return (element.flags & kElementHasTimestamp) != 0 &&
             (element.extra & kItmKindMask) == static_cast<unsigned>(ItmKind::kGlobalTimestamp);
    default:
      return false;
  }
}

/// Whether local timestamps of an ITM may have been lost before it.
bool loses_ticks(const Element& element) {
  return element.kind == ElementKind::kItmTrace && (element.extra & kItmOverflow) != 0;
}

/// Ticks of the source's own clock since the previous element.
std::uint64_t ticks_of(const Element& element) {
  if ((element.flags & kElementHasCycleCount) != 0) return element.cycle_count;
  return is_local_timestamp(element) ? element.start : 0;
}

}  // namespace

std::string_view time_kind_word(TimeKind kind) {
  constexpr std::string_view kWords[] = {"unknown", "exact", "interpolated", "after", "before"};
  return kWords[static_cast<std::size_t>(kind)];
}

void Timeline::push(const TimedRecord& record) {
  records_.push_back(record);
  cycles_.push_back(progress_);
  if (cycles_.size() <= kMaxOpen) return;
  // Their timestamp is too far away to wait for.
  settle_all();
}

void Timeline::add(const Element& element) {
  progress_ += ticks_of(element);
  // What was lost counted ticks, too.
  if (loses_ticks(element)) progress_is_whole_ = false;
  TimedRecord record;
  record.element = element;
  if (!states_time(element)) {
    if (is_local_timestamp(element)) {
      // It is the time of the packets before it, back to the previous local timestamp.
      std::fill(cycles_.begin() + static_cast<std::ptrdiff_t>(stamped_), cycles_.end(), progress_);
      stamped_ = cycles_.size() + 1;
    }
    push(record);
    return;
  }
  if ((element.flags & kElementTimeIsPartial) != 0) {
    add_lower_bound(record);
    return;
  }
  if (has_time_ && element.timestamp < last_time_) {
    if (backwards_++ == 0) first_backwards_ = element.index;
    if (below_ && element.timestamp >= *below_) {
      restart(*below_);
    } else {
      below_ = element.timestamp;
    }
  } else {
    below_.reset();
  }
  const std::uint64_t time = std::max(element.timestamp, last_time_);
  settle(time, true, 0);
  record.time = time;
  record.kind = element.timestamp < last_time_ ? TimeKind::kAfter : TimeKind::kExact;
  records_.push_back(record);
  ++settled_;
  if (has_time_ && time != last_time_) time_before_ = last_time_;
  last_time_ = time;
  has_time_ = true;
  last_is_exact_ = true;
  progress_ = 0;
  progress_is_whole_ = true;
}

// A timestamp without its upper bits is only a lower bound.
void Timeline::add_lower_bound(TimedRecord record) {
  const std::uint64_t time = std::max(record.element.timestamp, last_time_);
  has_time_ = true;
  last_is_exact_ = false;
  settle(time, true, 0);
  record.time = time;
  record.kind = TimeKind::kAfter;
  records_.push_back(record);
  ++settled_;
  last_time_ = time;
  progress_ = 0;
  progress_is_whole_ = true;
}

// Two ascending timestamps, both below the greatest, are right.  If the one before the
// greatest agrees with them, the greatest was wrong, and records that still wait under it are
// corrected.
void Timeline::restart(std::uint64_t time) {
  below_.reset();
  if (time_before_ && *time_before_ <= time) {
    for (std::size_t i = settled_; i != 0; --i) {
      TimedRecord& record = records_[i - 1];
      if (record.time <= time) break;
      const bool exact = states_time(record.element) && record.element.timestamp == time;
      record.time = time;
      record.kind = exact ? TimeKind::kExact : TimeKind::kBefore;
    }
  }
  time_before_.reset();
  last_time_ = time;
}

void Timeline::add(const Diagnostic& damage) {
  TimedRecord record;
  record.element.index = damage.index;
  record.element.trace_id = damage.trace_id;
  record.is_damage = true;
  record.damage = damage;
  push(record);
}

// Gives the records since the last timestamp their time.
void Timeline::settle(std::uint64_t next_time, bool has_next, std::uint64_t without_any) {
  const bool interpolates =
      has_time_ && last_is_exact_ && has_next && progress_ != 0 && progress_is_whole_;
  for (std::size_t i = 0; i < cycles_.size(); ++i) {
    TimedRecord& record = records_[settled_ + i];
    if (!has_time_) {
      record.time = has_next ? next_time : without_any;
      record.kind = has_next ? TimeKind::kBefore : TimeKind::kUnknown;
      continue;
    }
    record.time = last_time_;
    record.kind = TimeKind::kAfter;
    if (!interpolates) continue;
    record.time +=
        static_cast<std::uint64_t>(Wide{next_time - last_time_} * cycles_[i] / progress_);
    record.kind = TimeKind::kInterpolated;
  }
  settled_ += cycles_.size();
  cycles_.clear();
  stamped_ = 0;
}

void Timeline::settle_all() { settle(0, false, 0); }

void Timeline::finish() {
  settle(0, false, kNever);
  finished_ = true;
}

}  // namespace waymark::merge
