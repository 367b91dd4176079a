// Places on the axis for the instructions of each source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// A source is at `t` when it has executed `n` instructions.  For a source that executes none, `n`
/// counts its elements.
struct AxisPoint {
  std::uint64_t n = 0;
  double t = 0;
  friend bool operator==(const AxisPoint&, const AxisPoint&) = default;
};

/// The points of one source, both of whose values never decrease.  Between two of them, places are
/// distributed evenly.  Where two have the same `n`, time passed without an instruction.
class AxisPoints {
 public:
  AxisPoints() = default;
  explicit AxisPoints(std::vector<AxisPoint> points) : points_(std::move(points)) {}

  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] std::span<const AxisPoint> all() const { return points_; }
  void add(const AxisPoint& point) { points_.push_back(point); }

  /// Where the instruction `n` begins.
  [[nodiscard]] double at(std::uint64_t n) const;
  /// Where the instruction before `n` ends.
  [[nodiscard]] double before(std::uint64_t n) const;
  /// Where something happens after the first `points` points and before the others.
  [[nodiscard]] double between(std::uint64_t n, std::size_t points) const;
  /// The last instruction that begins at `t` or earlier; of those that begin at the same place the
  /// last one.
  [[nodiscard]] std::uint64_t last_at(double t) const;

 private:
  std::vector<AxisPoint> points_;
};

/// The time of an element of a source that does not execute.
struct ElementTime {
  std::uint64_t time = 0;
  bool is_of_those_before = false;  ///< All elements since the last time have this one.
};

/// Makes points from timestamps, cycle counts and gaps, by the rules of stacks::Timeline.  Its
/// state is a value.
class AxisClock {
 public:
  AxisClock(AxisUnit unit, std::uint64_t origin) : unit_(unit), origin_(origin) {}

  /// The state that an executing source reports to its engine.
  void on_gap(TraceId id, std::uint64_t n);
  void on_timestamp(TraceId id, std::uint64_t n, std::uint64_t time);
  void on_cycles(TraceId id, std::uint64_t n, std::uint64_t cycles);
  /// An element of another source, its `n`-th.  `time`: its own time.  Without one, it is where the
  /// source before it was.
  void on_element(TraceId id, std::uint64_t n, TraceIndex index,
                  const std::optional<ElementTime>& time);

  /// The state of a source between two points.
  struct State {
    std::uint64_t n = 0;      ///< That of the last point,
    double t = 0;             ///< and its place.
    std::uint64_t time = 0;   ///< The same in ticks.
    std::uint64_t last = 0;   ///< The last timestamp as it was traced.
    std::uint64_t shift = 0;  ///< What is added to timestamps, modulo 2^64.
    std::uint64_t below = 0;  ///< A timestamp that went back.
    bool has_below = false;
    bool is_set = false;
    bool is_after_gap = false;  ///< There was a gap since the last point,
    std::uint64_t gap = 0;      ///< and the last one was at this `n`.
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] const State& state(TraceId id) const { return states_[id]; }
  void restore(TraceId id, const State& state) { states_[id] = state; }
  /// Where the last source was.
  [[nodiscard]] double recent() const { return recent_; }
  void set_recent(double recent) { recent_ = recent; }

  /// The points that were made since the last call.
  std::vector<AxisPoint> take(TraceId id) { return std::exchange(made_[id], {}); }
  [[nodiscard]] const std::vector<AxisPoint>& made(TraceId id) const { return made_[id]; }
  [[nodiscard]] AxisUnit unit() const { return unit_; }

 private:
  void add(TraceId id, std::uint64_t n, double t);
  void set_time(TraceId id, std::uint64_t n, std::uint64_t time, bool is_of_those_before);

  AxisUnit unit_;
  std::uint64_t origin_;
  double recent_ = 0;
  std::array<State, 256> states_{};
  std::array<std::vector<AxisPoint>, 256> made_;
};

}  // namespace waymark::view
