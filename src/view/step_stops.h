// The instructions at which steps of a kind end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "line_runs.h"
#include "range_walk.h"
#include "stack_watch.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// Where a step begins.
struct StepOrigin {
  Instant instant{};
  double at = 0;
  stacks::TrackId track = 0;
  std::size_t depth = 0;
  std::uint64_t address = 0;
  LineId line = kNoLine;
};

/// Finds them in the elements of one source, which come one after the other.  One owner.
class StepStops {
 public:
  using Found = std::function<void(std::uint64_t n)>;

  /// `watch`: the stacks after each element.
  StepStops(StepKind kind, const StepOrigin& origin, StackWatch& watch, LineRuns& lines,
            RangeWalk& walk)
      : kind_(kind), origin_(origin), watch_(watch), lines_(lines), walk_(walk) {}

  /// The replay begins at an element.
  void begin(const Element& element);
  /// A frame was entered.
  void enter(TraceId source, std::uint64_t position, bool is_call);
  /// An element of the source of the origin; calls found() for its stops, in ascending order.
  void pass(const Element& element, std::uint64_t n, const Found& found);

 private:
  void pass_range(const Element& range, std::uint64_t n, const Found& found);
  void pass_lines(const Element& range, std::uint64_t n, const Found& found);
  void pass_same_line(const Element& range, std::uint64_t n, const Found& found);
  void pass_same_address(const Element& range, std::uint64_t n, const Found& found);
  void pass_depth(const Element& range, std::uint64_t n, const Found& found);
  StackWatch::Frame& frame();

  StepKind kind_;
  const StepOrigin& origin_;
  StackWatch& watch_;
  LineRuns& lines_;
  RangeWalk& walk_;
  LineId last_line_ = kNoLine;
  bool after_exception_ = false;
  std::vector<std::uint64_t> calls_;  ///< Entered since the last range.
  StackWatch::Frame no_frame_;
};

}  // namespace waymark::view
