#include "waymark/profile/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::profile {
namespace {

count::Row row(std::int32_t thread, std::uint64_t start, std::uint32_t instructions,
               std::uint64_t taken, std::uint64_t not_taken, std::uint64_t target = kNoAddress) {
  return {.context = {.task = {.thread = thread}},
          .range = {.start = start,
                    .end = start + 4 * instructions,
                    .count = instructions,
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = true},
          .executed = taken,
          .not_executed = not_taken,
          .target = target};
}

/// Task 1 has the program at 0x1000, task 2 at 0x5000; it was linked for 0x100.
Place place_of(TaskId task, std::uint64_t address) {
  const std::uint64_t base = task.thread == 1 ? 0x1000 : 0x5000;
  if (address < base || address >= base + 0x1000) return {.address = address};
  return {.path = "/bin/app", .address = address - base + 0x100};
}

TEST(Profile, processes_with_one_program_are_added_up) {
  count::Counts counts;
  counts.rows = {row(1, 0x1000, 4, 3, 1, 0x1010), row(2, 0x5000, 4, 2, 0, 0x5010)};
  Profile profile;
  EXPECT_TRUE(profile.add(counts, place_of));
  ASSERT_EQ(profile.programs().size(), 1U);
  const ProgramProfile& program = profile.programs().front();
  EXPECT_EQ(program.path, "/bin/app");
  ASSERT_EQ(program.counts.rows.size(), 1U);
  EXPECT_EQ(program.counts.rows[0].range.start, 0x100U);
  EXPECT_EQ(program.counts.rows[0].executed, 5U);
  EXPECT_EQ(program.counts.rows[0].not_executed, 1U);
  ASSERT_EQ(program.branches.size(), 1U);
  EXPECT_EQ(program.branches[0].from, 0x10CU);
  EXPECT_EQ(program.branches[0].to, 0x110U);
  EXPECT_EQ(program.branches[0].times, 5U);
  EXPECT_EQ(profile.instructions(), 24U);
  // The same again brings no program.
  EXPECT_FALSE(profile.add(counts, place_of));
  EXPECT_EQ(profile.instructions(), 48U);
}

TEST(Profile, the_sum_does_not_depend_on_the_order) {
  count::Counts first;
  first.rows = {row(1, 0x1000, 4, 3, 1, 0x1010), row(1, 0x1010, 2, 1, 0, 0x9000)};
  first.edges = {{.context = {.task = {.thread = 1}}, .from = 0x1014, .to = 0x1000, .times = 2}};
  count::Counts second;
  second.rows = {row(2, 0x5010, 2, 7, 0, 0x5000), row(2, 0x9000, 3, 1, 0)};
  Profile a;
  Profile b;
  a.add(first, place_of);
  b.add(second, place_of);
  Profile ab = a;
  EXPECT_FALSE(ab.add(b));  // Both have the same programs.
  Profile ba = b;
  ba.add(a);
  // Counts that are taken equal those that are copied.
  Profile taken;
  taken.add(Profile(a));
  taken.add(Profile(b));
  ASSERT_EQ(taken.programs().size(), ab.programs().size());
  for (std::size_t i = 0; i < ab.programs().size(); ++i) {
    EXPECT_EQ(taken.programs()[i].counts, ab.programs()[i].counts);
    EXPECT_EQ(taken.programs()[i].branches, ab.programs()[i].branches);
  }
  EXPECT_EQ(ab.instructions(), ba.instructions());
  ASSERT_EQ(ab.programs().size(), ba.programs().size());
  for (const ProgramProfile& program : ab.programs()) {
    const auto same = std::ranges::find(ba.programs(), program.path, &ProgramProfile::path);
    ASSERT_NE(same, ba.programs().end());
    EXPECT_EQ(program.counts, same->counts);
    ASSERT_EQ(program.branches.size(), same->branches.size());
    for (std::size_t i = 0; i < program.branches.size(); ++i) {
      EXPECT_EQ(program.branches[i].from, same->branches[i].from);
      EXPECT_EQ(program.branches[i].to, same->branches[i].to);
      EXPECT_EQ(program.branches[i].times, same->branches[i].times);
      EXPECT_EQ(ab.programs()[program.branches[i].to_program].path,
                ba.programs()[same->branches[i].to_program].path);
    }
  }
}

TEST(Profile, what_has_no_row_is_counted) {
  count::Counts counts;
  counts.rest.instructions = 10;
  counts.pathless_instructions = 5;
  Profile profile;
  EXPECT_FALSE(profile.add(counts, place_of));
  EXPECT_EQ(profile.other_instructions(), 15U);
  EXPECT_EQ(profile.instructions(), 15U);
}

}  // namespace
}  // namespace waymark::profile
