#include "waymark/profile/traces.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace waymark::profile {
namespace {

count::Row block(std::uint64_t start, std::uint64_t end, std::uint64_t taken,
                 std::uint64_t not_taken) {
  return {.range = {.start = start,
                    .end = end,
                    .count = static_cast<std::uint32_t>((end - start) / 4),
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = true},
          .executed = taken,
          .not_executed = not_taken};
}

std::vector<Trace> traces_of(std::vector<count::Row> rows, const std::vector<Branch>& branches) {
  count::Counts counts;
  counts.rows = std::move(rows);
  for (const Branch& branch : branches)
    counts.edges.push_back({.from = branch.from, .to = branch.to, .times = branch.times});
  // The branches are all indirect, so that each may have several targets.
  for (count::Row& row : counts.rows)
    if (row.range.is_branch()) row.range.last_type = isa::InstrType::kIndirectBranch;
  counts.combine();
  Profile profile;
  profile.add(counts, [](TaskId /*task*/, std::uint64_t address) -> Place {
    return {.path = "/bin/app", .address = address};
  });
  return traces(profile, profile.programs().front());
}

using List = std::vector<Trace>;

TEST(Traces, blocks_are_joined_where_a_branch_was_not_taken) {
  // A loop that is left once: 0x100 falls through to 0x108, whose branch leads back.
  EXPECT_EQ(traces_of({block(0x100, 0x108, 1, 9), block(0x108, 0x110, 9, 0)},
                      {{.from = 0x104, .to = 0x200, .times = 1},
                       {.from = 0x10C, .to = 0x100, .times = 9}}),
            (List{{0x100, 0x104, 1}, {0x100, 0x10C, 9}}));
}

TEST(Traces, what_was_entered_by_a_branch_begins_there) {
  EXPECT_EQ(traces_of({block(0x100, 0x108, 0, 4), block(0x108, 0x110, 10, 0)},
                      {{.from = 0x10C, .to = 0x100, .times = 4},
                       {.from = 0x10C, .to = 0x108, .times = 6}}),
            (List{{0x100, 0x10C, 4}, {0x108, 0x10C, 6}}));
}

TEST(Traces, a_gap_is_not_bridged) {
  // The trace was lost after 0x104, and began again with a branch to 0x108.
  EXPECT_EQ(traces_of({block(0x100, 0x108, 0, 1), block(0x108, 0x110, 1, 0)},
                      {{.from = 0x300, .to = 0x108, .times = 1}}),
            (List{{0x100, 0x104, 1}, {0x108, 0x10C, 1}}));
  // Nothing at all is known after 0x104.
  EXPECT_EQ(traces_of({block(0x100, 0x108, 0, 1), block(0x10C, 0x110, 1, 0)}, {}),
            (List{{0x100, 0x104, 1}, {0x10C, 0x10C, 1}}));
}

TEST(Traces, an_interrupted_block_is_joined_with_its_rest) {
  count::Row part = block(0x100, 0x108, 2, 0);
  part.range.last_type = isa::InstrType::kOther;
  EXPECT_EQ(traces_of({part, block(0x100, 0x110, 3, 0), block(0x108, 0x110, 2, 0)},
                      {{.from = 0x10C, .to = 0x100, .times = 5}}),
            (List{{0x100, 0x10C, 5}}));
}

// Whatever the counts are, traces execute each instruction and each fall-through as often as they
// say.
TEST(Traces, random_walks_keep_their_counts) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    // Blocks of one to three instructions in a row, and a walk over them.
    std::vector<std::uint64_t> starts{0x1000};
    while (starts.size() < 20) starts.push_back(starts.back() + 4 * (1 + random() % 3));
    std::map<std::size_t, std::pair<std::uint64_t, std::uint64_t>> outcomes;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> jumps;
    std::map<std::uint64_t, std::uint64_t> falls;
    std::size_t at = 0;
    for (int step = 0; step < 500; ++step) {
      const bool taken = at + 2 == starts.size() || random() % 3 == 0;
      (taken ? outcomes[at].first : outcomes[at].second) += 1;
      const std::size_t next = taken ? random() % (starts.size() - 1) : at + 1;
      if (taken && step != 499) {
        ++jumps[{starts[at + 1] - 4, starts[next]}];
      } else if (!taken && step != 499) {
        ++falls[starts[next]];
      }
      at = next;
    }
    std::vector<count::Row> rows;
    std::map<std::uint64_t, std::uint64_t> executed;
    for (const auto& [number, times] : outcomes) {
      rows.push_back(block(starts[number], starts[number + 1], times.first, times.second));
      for (std::uint64_t a = starts[number]; a < starts[number + 1]; a += 4)
        executed[a] += times.first + times.second;
    }
    std::vector<Branch> branches;
    branches.reserve(jumps.size());
    for (const auto& [jump, times] : jumps)
      branches.push_back({.from = jump.first, .to = jump.second, .times = times});
    std::map<std::uint64_t, std::uint64_t> seen;
    std::map<std::uint64_t, std::uint64_t> seen_falls;
    for (const Trace& trace : traces_of(rows, branches)) {
      for (std::uint64_t a = trace.start; a <= trace.last; a += 4) seen[a] += trace.times;
      for (const std::uint64_t start : starts)
        if (start > trace.start && start <= trace.last) seen_falls[start] += trace.times;
    }
    EXPECT_EQ(seen, executed);
    EXPECT_EQ(seen_falls, falls);
  }
}

}  // namespace
}  // namespace waymark::profile
