// The keyframes of a capture while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "axis_clock.h"
#include "keyframe.h"
#include "waymark/element/element.h"

namespace waymark::view {

/// Some of what a keyframe says of a source comes after it: the next element, and the next point of
/// the axis.  Until then the keyframe waits for it, and is replaced by a copy that has it.  So
/// whoever has a keyframe has a value that does not change.
class KeyframeList {
 public:
  /// `sources`: how many; they have numbers in the order of the capture.  `distance`: the least
  /// trace between keyframes.  The first keyframe is the start.
  KeyframeList(std::size_t sources, std::uint64_t distance);

  [[nodiscard]] const Keyframes& all() const { return keyframes_; }
  [[nodiscard]] bool is_due(TraceIndex index) const { return index >= next_; }

  /// Keeps the state after the elements that were noted.  `unused`: by source, how many points were
  /// made before it that add_points() did not get yet.
  void keep(Keyframe keyframe, std::span<const std::size_t> unused);
  /// The next element of a source.
  void note(std::size_t source, const Element& element) {
    ++elements_;
    Source& of = sources_[source];
    if (element.index == of.passed.index && of.unresumed.empty() && of.passed.skip != 0) {
      ++of.passed.skip;
    } else {
      note_index(source, element);
    }
  }
  /// The next points of a source.
  void add_points(std::size_t source, std::span<const AxisPoint> made);

 private:
  struct Source {
    /// Keyframes without the next point of this source, and how many points were made before them
    /// that are not used yet.
    std::vector<std::pair<std::size_t, std::size_t>> waiting{};
    /// The highest index of an element, and how many came since the first with it.
    ResumePoint passed{.index = 0};
    std::vector<std::size_t> unresumed{};  ///< Keyframes since the last element.
  };

  void note_index(std::size_t source, const Element& element);
  void set_next(std::size_t source, std::size_t keyframe, const AxisPoint& next);

  Keyframes keyframes_;
  std::vector<Source> sources_;
  std::uint64_t distance_;
  TraceIndex next_;  ///< Where the next keyframe is due.
  std::uint64_t elements_ = 0;
};

}  // namespace waymark::view
