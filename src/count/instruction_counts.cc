#include "waymark/count/instruction_counts.h"

#include <algorithm>

#include "share.h"

namespace waymark::count {

std::vector<InstructionCount> instruction_counts(const Counts& counts,
                                                 std::span<const std::uint64_t> addresses,
                                                 std::uint64_t end) {
  std::vector<InstructionCount> sums(addresses.size());
  if (addresses.empty()) return sums;
  // Differences to the instruction before; modulo 2^64, so that a difference may be negative.
  std::vector<std::uint64_t> times(addresses.size() + 1);
  const auto index_of = [&](std::uint64_t address) {
    return static_cast<std::size_t>(std::ranges::lower_bound(addresses, address) -
                                    addresses.begin());
  };
  for (const Row& row : counts.rows) {
    const Range& range = row.range;
    if (range.end <= addresses.front() || range.start >= end || range.end <= range.start) continue;
    const std::size_t first = index_of(range.start);
    const std::size_t after = index_of(range.end);
    times[first] += row.times();
    times[after] -= row.times();
    if (const std::size_t last = index_of(range.last_address());
        last < addresses.size() && addresses[last] == range.last_address()) {
      sums[last].taken += row.taken();
      sums[last].not_taken += row.not_taken();
    }
    if (row.cycles == 0) continue;
    CycleShare share(row.cycles, range.end - range.start);
    if (first < after) share.next(addresses[first] - range.start);
    for (std::size_t i = first; i < after; ++i) {
      const std::uint64_t next = i + 1 < addresses.size() ? addresses[i + 1] : end;
      sums[i].cycles += share.next(std::min(next, range.end) - addresses[i]);
    }
  }
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    now += times[i];
    sums[i].times = now;
  }
  return sums;
}

}  // namespace waymark::count
