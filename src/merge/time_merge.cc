#include "waymark/merge/time_merge.h"

#include <algorithm>

namespace waymark::merge {

TimeMerge::TimeMerge(const std::vector<TraceId>& ids, RecordSink& sink) : sink_(sink), ids_(ids) {
  std::ranges::sort(ids_);
  const auto doubles = std::ranges::unique(ids_);
  ids_.erase(doubles.begin(), doubles.end());
  lines_.resize(ids_.size());
  timed_.resize(ids_.size());
  line_of_.fill(kNone);
  for (std::size_t i = 0; i < ids_.size(); ++i) line_of_[ids_[i]] = static_cast<std::uint8_t>(i);
}

void TimeMerge::add(const Element& element) {
  const std::uint8_t line = line_of_[element.trace_id];
  if (line == kNone) {
    TimedRecord record;
    record.element = element;
    sink_.on_record(record);
    return;
  }
  lines_[line].add(element);
  give(false);
}

void TimeMerge::add(const Diagnostic& damage) {
  const std::uint8_t line = line_of_[damage.trace_id];
  if (line == kNone) {
    TimedRecord record;
    record.element.index = damage.index;
    record.element.trace_id = damage.trace_id;
    record.is_damage = true;
    record.damage = damage;
    sink_.on_record(record);
    return;
  }
  lines_[line].add(damage);
  give(false);
}

void TimeMerge::finish() {
  for (Timeline& line : lines_) line.finish();
  give(true);
}

std::vector<TraceId> TimeMerge::timeless() const {
  std::vector<TraceId> ids;
  for (std::size_t i = 0; i < ids_.size(); ++i)
    if (!timed_[i]) ids.push_back(ids_[i]);
  return ids;
}

std::vector<TimeMerge::Backwards> TimeMerge::backwards() const {
  std::vector<Backwards> out;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const Timeline& line = lines_[i];
    if (line.backwards() != 0) out.push_back({ids_[i], line.backwards(), line.first_backwards()});
  }
  return out;
}

void TimeMerge::give_front(Timeline& timeline) {
  const TimedRecord& record = *timeline.front();
  const auto line = static_cast<std::size_t>(&timeline - lines_.data());
  if (record.time != kNever) {
    timed_[line] =
        timed_[line] || record.kind == TimeKind::kExact || record.kind == TimeKind::kAfter;
    if (record.time < given_time_) ++late_;
    given_time_ = std::max(given_time_, record.time);
  }
  sink_.on_record(record);
  timeline.pop_front();
}

void TimeMerge::give(bool all) {
  for (;;) {
    Timeline* oldest = nullptr;
    std::size_t held = 0;
    bool waits = false;
    for (Timeline& line : lines_) {
      held += line.held();
      if (line.front() == nullptr) {
        waits = waits || !line.finished();
      } else if (oldest == nullptr || line.front()->time < oldest->front()->time) {
        oldest = &line;
      }
    }
    if (waits && !all && held > kMaxHeld) {
      // The source that holds most is not waited for, so that something can be given.
      if (oldest == nullptr) {
        std::ranges::max_element(lines_, {}, &Timeline::held)->settle_all();
      } else {
        give_front(*oldest);
      }
      continue;
    }
    if (oldest == nullptr || (waits && !all)) return;
    give_front(*oldest);
  }
}

}  // namespace waymark::merge
