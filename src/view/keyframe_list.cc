#include "keyframe_list.h"

#include <algorithm>
#include <memory>

namespace waymark::view {

KeyframeList::KeyframeList(std::size_t sources, std::uint64_t distance)
    : sources_(sources), distance_(distance), next_(distance) {
  auto start = std::make_shared<Keyframe>();
  start->sources.resize(sources);
  keyframes_.push_back(std::move(start));
  for (Source& source : sources_) source.waiting.emplace_back(0, 0);
}

void KeyframeList::keep(Keyframe keyframe, std::span<const std::size_t> unused) {
  next_ = keyframe.index + distance_;
  keyframe.elements = elements_;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    sources_[i].waiting.emplace_back(keyframes_.size(), unused[i]);
    sources_[i].unresumed.push_back(keyframes_.size());
  }
  keyframes_.push_back(std::make_shared<Keyframe>(std::move(keyframe)));
}

void KeyframeList::note_index(std::size_t source, const Element& element) {
  Source& of = sources_[source];
  ResumePoint next = of.passed;
  if (element.index > of.passed.index || of.passed.skip == 0) {
    next = {.index = element.index};
    of.passed = {.index = element.index, .skip = 1};
  } else {
    ++of.passed.skip;
  }
  for (const std::size_t i : std::exchange(of.unresumed, {})) {
    auto copy = std::make_shared<Keyframe>(*keyframes_[i]);
    copy->sources[source].resume = next;
    keyframes_[i] = std::move(copy);
  }
}

void KeyframeList::add_points(std::size_t source, std::span<const AxisPoint> made) {
  std::vector<std::pair<std::size_t, std::size_t>> left;
  for (const auto& [keyframe, skip] : sources_[source].waiting) {
    if (skip < made.size()) {
      set_next(source, keyframe, made[skip]);
    } else {
      left.emplace_back(keyframe, skip - made.size());
    }
  }
  sources_[source].waiting = std::move(left);
}

void KeyframeList::set_next(std::size_t source, std::size_t keyframe, const AxisPoint& next) {
  auto copy = std::make_shared<Keyframe>(*keyframes_[keyframe]);
  SourceAt& at = copy->sources[source];
  at.next = next;
  AxisPoints points;
  if (at.clock.is_set) points.add({at.clock.n, at.clock.t});
  points.add(next);
  at.t = std::max(points.before(at.n), at.clock.t);
  keyframes_[keyframe] = std::move(copy);
}

}  // namespace waymark::view
