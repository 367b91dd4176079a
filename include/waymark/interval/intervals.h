// Measures the time from one event to another in a trace: from a function to another one, from an
// interrupt to a message.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "waymark/element/element.h"
#include "waymark/interval/distribution.h"

namespace waymark::interval {

enum class Unit : std::uint8_t {
  kTime,          ///< Ticks of the timestamps; for an ITM, of its local timestamps.
  kCycles,        ///< By cycle counts.
  kInstructions,  ///< Instructions that the source has executed.
};
inline constexpr std::size_t kUnits = 3;

/// "time", "cycles", "instructions".
std::string_view unit_name(Unit unit);

/// One interval.
struct Interval {
  TraceIndex from = 0;
  TraceIndex to = 0;
  std::uint64_t begin = 0;  ///< In the unit; where the count begins is where the source begins.
  std::uint64_t length = 0;
};

/// The intervals of one source in one unit.
struct Lengths {
  Distribution distribution{};
  std::optional<Interval> shortest{};  ///< The first of them.
  std::optional<Interval> longest{};

  void add(const Interval& interval);
  void add(const Lengths& other);
};

enum class End : std::uint8_t { kFrom, kTo };

/// Measures the intervals of one source.  An interval begins where `from` happened last before
/// `to`.  The caller says what happens; the object reads the times of all elements.
///
/// Trace says when something happened only now and then.  Between two timestamps or cycle counts,
/// time is divided evenly among the instructions.  An interval whose beginning or end is not
/// between two of them has no length in that unit, only in the others; nor has one of more than
/// kMostOpen that wait for the second one.  A gap in the trace ends an interval without a length:
/// its duration is unknown.  One owner; not thread safe.
class Intervals {
 public:
  static constexpr std::size_t kMostOpen = std::size_t{1} << 16;

  /// `end` happens at an element, after the first `instructions` of it.  Before observe() of it.
  void happen(End end, const Element& element, std::uint64_t instructions = 0);
  /// The next element.
  void observe(const Element& element);
  /// The end of the trace.
  void finish();

  [[nodiscard]] const Lengths& lengths(Unit unit) const {
    return lengths_[static_cast<std::size_t>(unit)];
  }
  /// Whether the trace measures in this unit at all.
  [[nodiscard]] bool has(Unit unit) const { return has_[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] std::uint64_t begun() const { return begun_; }  ///< How often `from` happened,
  [[nodiscard]] std::uint64_t ended() const { return ended_; }  ///< and `to`.
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

 private:
  struct Mark {
    TraceIndex index = 0;
    std::uint64_t position = 0;
    std::optional<std::uint64_t> exact{};  ///< Its time, if the element itself has one.
  };
  struct Pair {
    Mark from;
    Mark to;
  };
  /// A clock that is read now and then.
  struct Clock {
    std::uint64_t position = 0;
    std::uint64_t value = 0;
    bool known = false;
    std::deque<Pair> waiting{};            ///< Their `to` is after `position`.
    std::optional<std::uint64_t> begin{};  ///< When the open interval began, if before `position`.
    bool lost = false;                     ///< The beginning of the open interval has no time.
  };

  void read_clock(Unit unit, std::uint64_t value);
  void settle(Unit unit, std::uint64_t next_value);
  void record(Unit unit, const Pair& pair, std::uint64_t begin, std::uint64_t end);
  void lose();
  [[nodiscard]] std::uint64_t at(const Clock& clock, const Mark& mark,
                                 std::uint64_t next_value) const;

  std::array<Lengths, kUnits> lengths_;
  std::array<bool, kUnits> has_{};
  std::array<Clock, 2> clocks_;  ///< kTime, kCycles.
  std::optional<Mark> open_;
  std::uint64_t position_ = 0;  ///< Instructions so far.
  std::uint64_t cycles_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t pairs_ = 0;
};

}  // namespace waymark::interval
