#include "waymark/profile/traces.h"

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>

namespace waymark::profile {
namespace {

/// Executions that have come to the same address, by where their traces began.
struct Part {
  std::uint64_t start;
  std::uint64_t last;  ///< The last instruction so far.
  std::uint64_t times;
};
using Parts = std::list<Part>;

std::uint64_t last_of(const count::Range& range) {
  const unsigned smallest = range.isa == isa::Isa::kT32 ? 2 : 4;
  return range.end - (range.last_size == 0 ? smallest : range.last_size);
}

/// Moves the first executions of `from`, `times` in all, to the end of `to`.
void move_times(Parts& from, Parts& to, std::uint64_t times) {
  while (times != 0 && !from.empty()) {
    Part& first = from.front();
    if (first.times > times) {
      to.push_back({first.start, first.last, times});
      first.times -= times;
      return;
    }
    times -= first.times;
    to.splice(to.end(), from, from.begin());
  }
}

std::uint64_t sum_of(const Parts& parts) {
  std::uint64_t sum = 0;
  for (const Part& part : parts) sum += part.times;
  return sum;
}

class Joiner {
 public:
  Joiner(const Profile& profile, const ProgramProfile& program) : program_(program) {
    for (const ProgramProfile& from : profile.programs()) {
      for (const Branch& branch : from.branches) {
        if (branch.to != kNoAddress && branch.to_program == program.number)
          entered_[branch.to] += branch.times;
      }
    }
  }

  std::vector<Trace> run() {
    const std::vector<count::Row>& rows = program_.counts.rows;
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t after = first;
      while (after < rows.size() && rows[after].range.start == rows[first].range.start) ++after;
      end_before(rows[first].range.start);
      join(std::span(rows).subspan(first, after - first));
      first = after;
    }
    end_before(kNoAddress);
    std::vector<Trace> result;
    result.reserve(traces_.size());
    for (const auto& [range, times] : traces_) result.push_back({range.first, range.second, times});
    return result;
  }

 private:
  void end(Parts& parts) {
    for (const Part& part : parts) traces_[{part.start, part.last}] += part.times;
    parts.clear();
  }

  /// No block begins at the lower addresses that are still waited for.
  void end_before(std::uint64_t address) {
    while (!waiting_.empty() && waiting_.begin()->first < address) {
      end(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  /// All blocks that begin at one address.
  void join(std::span<const count::Row> rows) {
    const std::uint64_t start = rows.front().range.start;
    std::uint64_t all = 0;
    for (const count::Row& row : rows) all += row.times();
    const auto entered = entered_.find(start);
    const std::uint64_t by_branch = entered == entered_.end() ? 0 : entered->second;
    Parts arrived;
    if (const auto waiting = waiting_.find(start); waiting != waiting_.end()) {
      arrived = std::move(waiting->second);
      waiting_.erase(waiting);
    }
    Parts here;
    move_times(arrived, here, all - std::min(all, by_branch));
    end(arrived);
    if (const std::uint64_t joined = sum_of(here); joined < all)
      here.push_back({start, start, all - joined});
    for (const count::Row& row : rows) {
      Parts executed;
      if (&row == &rows.back()) {
        executed.swap(here);
      } else {
        move_times(here, executed, row.times());
      }
      for (Part& part : executed) part.last = last_of(row.range);
      Parts taken;
      move_times(executed, taken, row.taken());
      end(taken);
      if (executed.empty()) continue;
      Parts& waiting = waiting_[row.range.end];
      waiting.splice(waiting.end(), executed);
    }
  }

  const ProgramProfile& program_;
  std::unordered_map<std::uint64_t, std::uint64_t> entered_;  ///< Taken branches to an address.
  std::map<std::uint64_t, Parts> waiting_;  ///< Executions that go on at an address.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> traces_;
};

}  // namespace

std::vector<Trace> traces(const Profile& profile, const ProgramProfile& program) {
  return Joiner(profile, program).run();
}

}  // namespace waymark::profile
