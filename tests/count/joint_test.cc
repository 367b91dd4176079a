// Counts of several programs in one address space.
#include "waymark/count/joint.h"

#include <gtest/gtest.h>

namespace waymark::count {
namespace {

TEST(JointAddresses, lead_back_to_their_programs) {
  JointAddresses joint;
  const ProgramAddress places[] = {
      {0, 0x1000}, {1, 0x1000}, {0, 0xFFFF'8000'0800'0000}, {1, 0x1004}, {7, kNoAddress}};
  for (const ProgramAddress& place : places) {
    EXPECT_EQ(joint.split(joint.join(place)), place);
    EXPECT_EQ(joint.join(place), joint.join(place));
  }
  EXPECT_NE(joint.join(places[0]), joint.join(places[1]));
  EXPECT_EQ(joint.join(places[1]) + 4, joint.join(places[3]));
  EXPECT_EQ(joint.split(~std::uint64_t{0}), ProgramAddress());
}

TEST(Fold, adds_up_a_program_at_the_addresses_of_several_tasks) {
  // Program 5 begins at 0x1000 in task 1 and at 0x9000 in task 2; the rest is program 0.
  const auto locate = [](TaskId task, std::uint64_t address) -> ProgramAddress {
    const std::uint64_t begin = task.thread == 1 ? 0x1000 : 0x9000;
    if (address >= begin && address < begin + 0x100) return {5, address - begin};
    return {0, address};
  };
  const auto row = [](std::int32_t thread, std::uint64_t start, std::uint64_t times,
                      std::uint64_t target) {
    Row made;
    made.context.task = {.thread = thread};
    made.context.context_id = static_cast<std::uint32_t>(thread);
    made.range = {.start = start, .end = start + 8, .count = 2, .last_size = 4};
    made.executed = times;
    made.target = target;
    return made;
  };
  Counts counts;
  counts.rows = {row(1, 0x1000, 3, 0x1020), row(2, 0x1000, 1, kNoAddress),
                 row(2, 0x9000, 4, 0x9020)};
  counts.edges.push_back(
      {.context = counts.rows[0].context, .from = 0x1004, .to = 0x500, .times = 2});
  counts.edges.push_back(
      {.context = counts.rows[2].context, .from = 0x9004, .to = 0x500, .times = 7});
  counts.others[3] = 9;
  JointAddresses joint;
  const Counts all = fold(counts, joint, locate);
  EXPECT_EQ(all.totals(), counts.totals());
  EXPECT_EQ(all.others, counts.others);
  ASSERT_EQ(all.rows.size(), 2U);
  for (const Row& each : all.rows) {
    EXPECT_EQ(each.context, Context());
    const ProgramAddress start = joint.split(each.range.start);
    EXPECT_EQ(each.executed, start.program == 5 ? 7U : 1U);
    if (start.program != 5) continue;
    EXPECT_EQ(joint.split(each.target), (ProgramAddress{5, 0x20}));
  }
  ASSERT_EQ(all.edges.size(), 1U);
  EXPECT_EQ(joint.split(all.edges[0].from), (ProgramAddress{5, 4}));
  EXPECT_EQ(joint.split(all.edges[0].to), (ProgramAddress{0, 0x500}));
  EXPECT_EQ(all.edges[0].times, 9U);
}

}  // namespace
}  // namespace waymark::count
