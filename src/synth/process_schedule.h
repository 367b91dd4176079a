// When the processes of a recording run, by the timestamps of its trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "waymark/element/element.h"

namespace waymark::synth {

/// Counts of the timestamp generator, with both ends.
struct Interval {
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
  std::uint64_t first = 0;
  std::uint64_t last = kNoEnd;
};

/// A CPU goes from one process to another.
struct ProcessSwitch {
  std::uint64_t after = 0;  ///< A count of the timestamp generator.
  std::uint32_t cpu = 0;
  std::optional<std::uint32_t> from{};
  std::uint32_t to = 0;
};

/// When each process runs.  Within the interval between two timestamps nothing is known about the
/// time, so a process that runs in some of it runs in all of it.
class ProcessSchedule {
 public:
  ProcessSchedule(std::span<const std::uint32_t> processes, bool takes_turns)
      : processes_(processes), takes_turns_(takes_turns) {}

  void begin_cpu(std::uint32_t cpu) {
    cpu_ = cpu;
    begin_ = timestamps_ = 0;
    running_.clear();
    turn_ = cpu % processes_.size();
    if (takes_turns_) switches_.push_back({.cpu = cpu, .to = processes_[turn_]});
  }
  void observe(const Element& element) {
    if (element.kind == ElementKind::kInstrRange) {
      running_.insert(takes_turns_ ? processes_[turn_] : element.context_id);
    } else if (element.kind == ElementKind::kTimestamp &&
               (element.flags & kElementTimeIsPartial) == 0 && element.timestamp != 0) {
      end_interval(element.timestamp);
      begin_ = element.timestamp;
      latest_ = std::max(latest_, begin_);
      if (takes_turns_ && ++timestamps_ % kTurn == 0) take_turn();
    }
  }
  void end_cpu() { end_interval(Interval::kNoEnd); }

  /// Ascending, without overlaps.
  [[nodiscard]] std::vector<Interval> intervals_of(std::uint32_t process) const {
    std::vector<Interval> all;
    const auto found = intervals_.find(process);
    if (found == intervals_.end()) return all;
    std::vector<Interval> sorted = found->second;
    std::ranges::sort(sorted, {}, &Interval::first);
    for (const Interval& next : sorted) {
      const bool apart =
          all.empty() || (all.back().last != Interval::kNoEnd && next.first > all.back().last + 1);
      if (apart) {
        all.push_back(next);
      } else {
        all.back().last = std::max(all.back().last, next.last);
      }
    }
    return all;
  }
  [[nodiscard]] const std::vector<ProcessSwitch>& switches() const { return switches_; }
  [[nodiscard]] std::uint64_t latest() const { return latest_; }

 private:
  static constexpr unsigned kTurn = 3;

  void end_interval(std::uint64_t end) {
    for (const std::uint32_t process : running_) intervals_[process].push_back({begin_, end});
    running_.clear();
  }
  void take_turn() {
    const std::uint32_t from = processes_[turn_];
    turn_ = (turn_ + 1) % processes_.size();
    switches_.push_back({.after = begin_, .cpu = cpu_, .from = from, .to = processes_[turn_]});
  }

  std::span<const std::uint32_t> processes_;
  bool takes_turns_;
  std::uint32_t cpu_ = 0;
  std::size_t turn_ = 0;
  unsigned timestamps_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t latest_ = 0;
  std::set<std::uint32_t> running_;  ///< Since begin_.
  std::map<std::uint32_t, std::vector<Interval>> intervals_;
  std::vector<ProcessSwitch> switches_;
};

}  // namespace waymark::synth
