#include "waymark/count/counts.h"

#include <gtest/gtest.h>

#include "waymark/count/ranking.h"

namespace waymark::count {
namespace {

Row row(std::uint64_t start, std::uint64_t executed, std::uint64_t not_executed = 0) {
  return {.range = {.start = start,
                    .end = start + 8,
                    .count = 2,
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4},
          .executed = executed,
          .not_executed = not_executed};
}

TEST(Counts, adds_rows_of_the_same_range_and_keeps_all_in_order) {
  Counts a;
  a.rows = {row(0x100, 3), row(0x300, 1, 2)};
  a.rows[1].cycles = 5;
  a.others[static_cast<std::size_t>(ElementKind::kTraceOn)] = 1;
  Counts b;
  b.rows = {row(0x200, 7), row(0x300, 10, 20)};
  b.rows[1].target = 0x500;
  b.others[static_cast<std::size_t>(ElementKind::kTraceOn)] = 2;
  b.other_cycles = 9;
  a.add(b);
  ASSERT_EQ(a.rows.size(), 3U);
  EXPECT_EQ(a.rows[0], row(0x100, 3));
  EXPECT_EQ(a.rows[1], row(0x200, 7));
  Row sum = row(0x300, 11, 22);
  sum.cycles = 5;
  sum.target = 0x500;
  EXPECT_EQ(a.rows[2], sum);
  EXPECT_EQ(a.others[static_cast<std::size_t>(ElementKind::kTraceOn)], 3U);
  EXPECT_EQ(a.other_cycles, 9U);
  const Totals totals = {
      .instructions = 2 * (3 + 7 + 33), .ranges = 43, .taken = 21, .not_taken = 22, .cycles = 5};
  EXPECT_EQ(a.totals(), totals);
}

TEST(Counts, keeps_rows_of_different_contexts_apart) {
  Counts a;
  a.rows = {row(0x100, 3)};
  Counts b = a;
  b.rows[0].context.context_id = 1;
  a.add(b);
  EXPECT_EQ(a.rows.size(), 2U);
  EXPECT_EQ(a.totals().ranges, 6U);
}

TEST(Counts, adds_in_any_order) {
  Counts parts[3];
  parts[0].rows = {row(0x100, 1), row(0x200, 2)};
  parts[1].rows = {row(0x200, 4)};
  parts[1].edges = {{.from = 0x10, .to = 0x20, .times = 3}};
  parts[2].rows = {row(0x50, 8)};
  parts[2].edges = {{.from = 0x10, .to = 0x20, .times = 4}, {.from = 0x10, .to = 0x30, .times = 1}};
  Counts forwards;
  for (const Counts& part : parts) forwards.add(part);
  Counts backwards;
  for (int i = 2; i >= 0; --i) backwards.add(parts[i]);
  EXPECT_EQ(forwards, backwards);
  ASSERT_EQ(forwards.edges.size(), 2U);
  EXPECT_EQ(forwards.edges[0].times, 7U);
}

TEST(Counts, turns_rows_beyond_the_most_into_totals) {
  Counts a;
  Counts b;
  for (std::size_t i = 0; i < Counts::kMaxRows / 2 + 5; ++i) {
    a.rows.push_back(row(16 * i, 1));
    b.rows.push_back(row(16 * i + 8, 1));
  }
  a.add(b);
  EXPECT_EQ(a.rows.size(), Counts::kMaxRows);
  EXPECT_EQ(a.rest.ranges, 10U);
  EXPECT_EQ(a.totals().ranges, Counts::kMaxRows + 10);
}

TEST(Ranking, gives_the_greatest_first_and_leaves_out_what_has_none) {
  Counts counts;
  counts.rows = {row(0x100, 1), row(0x200, 5), row(0x300, 5), row(0x400, 2)};
  counts.rows[3].cycles = 3;
  const auto top_three = top(counts, Order::kTimes, 3);
  ASSERT_EQ(top_three.size(), 3U);
  EXPECT_EQ(top_three[0].range.start, 0x200U);
  EXPECT_EQ(top_three[1].range.start, 0x300U);
  EXPECT_EQ(top_three[2].range.start, 0x400U);
  const auto by_cycles = top(counts, Order::kCycles, 3);
  ASSERT_EQ(by_cycles.size(), 1U);
  EXPECT_EQ(by_cycles[0].range.start, 0x400U);
  EXPECT_TRUE(top(counts, Order::kCalls, 3).empty());
}

TEST(Ranking, reports_where_branches_went_and_what_is_unknown) {
  Counts counts;
  Row direct = row(0x100, 3, 4);
  direct.target = 0x40;
  // Two rows that end with the same branch.
  Row longer = row(0xFC, 1);
  longer.range.end = direct.range.end;
  longer.target = 0x40;
  Row indirect = row(0x200, 10);
  indirect.range.last_type = isa::InstrType::kIndirectBranch;
  counts.rows = {longer, direct, indirect};
  counts.edges = {{.from = 0x204, .to = 0x700, .from_isa = isa::Isa::kA64, .times = 6},
                  {.from = 0x204, .to = 0x800, .from_isa = isa::Isa::kA64, .times = 1}};
  const std::vector<Branch> all = top_branches(counts, 100);
  ASSERT_EQ(all.size(), 5U);
  const auto expect = [&](std::size_t i, std::uint64_t from, std::uint64_t to, bool taken,
                          std::uint64_t times) {
    EXPECT_EQ(all[i].from, from) << i;
    EXPECT_EQ(all[i].to, to) << i;
    EXPECT_EQ(all[i].taken, taken) << i;
    EXPECT_EQ(all[i].times, times) << i;
  };
  expect(0, 0x204, 0x700, true, 6);
  expect(1, 0x104, 0x108, false, 4);
  expect(2, 0x104, 0x40, true, 4);
  expect(3, 0x204, kNoAddress, true, 3);
  expect(4, 0x204, 0x800, true, 1);
}

}  // namespace
}  // namespace waymark::count
