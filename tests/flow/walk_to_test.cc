#include "waymark/flow/walk_to.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::flow {
namespace {

using isa::Isa;

constexpr std::uint64_t kA64 = 0x1000;
constexpr std::uint64_t kT32 = 0x2000;
const isa::Options kOptions{.arch = isa::Arch::kAA64, .track_it_block = true};

/// A64 code with a call and a conditional branch in it, and T32 code with a 32-bit instruction.
class WalkToTest : public testing::Test {
 protected:
  WalkToTest() {
    constexpr std::uint32_t kNop = 0xD503201F;
    constexpr std::uint32_t kCall = 0x94000002;    // 0x1008: bl 0x1010
    constexpr std::uint32_t kReturn = 0xD65F03C0;  // 0x1014: ret
    for (const std::uint32_t word : {kNop, kNop, kCall, kNop, kNop, kReturn})
      for (unsigned shift = 0; shift < 32; shift += 8)
        a64_.push_back(static_cast<std::uint8_t>(word >> shift));
    // nop; nop.w; nop; nop
    t32_ = {0x00, 0xBF, 0xAF, 0xF3, 0x00, 0x80, 0x00, 0xBF, 0x00, 0xBF, 0x00, 0xBF};
    EXPECT_TRUE(image_.add_buffer(kA64, a64_));
    EXPECT_TRUE(image_.add_buffer(kT32, t32_));
  }

  Stretch walk(const Place& from, const Destination& to) {
    return walk_to(path_.follower(), from, to, credit_);
  }

  std::vector<std::uint8_t> a64_;
  std::vector<std::uint8_t> t32_;
  image::Image image_;
  Path path_{image_, kOptions, 1, true};
  std::uint32_t credit_ = 100;
};

TEST_F(WalkToTest, passes_waypoints_to_an_address) {
  const Stretch walked = walk({kA64, Isa::kA64}, {.address = kA64 + 16});
  EXPECT_EQ(walked.start, kA64);
  EXPECT_EQ(walked.end, kA64 + 16);
  EXPECT_EQ(walked.count, 4U);
  EXPECT_EQ(walked.isa, Isa::kA64);
  EXPECT_EQ(walked.arrived, Arrived::kThere);
  EXPECT_TRUE(walked.passed_waypoint);
  EXPECT_EQ(credit_, 96U);
}

TEST_F(WalkToTest, an_inclusive_address_is_walked_too) {
  const Stretch walked = walk({kA64, Isa::kA64}, {.address = kA64 + 8, .inclusive = true});
  EXPECT_EQ(walked.count, 3U);
  EXPECT_EQ(walked.arrived, Arrived::kThere);
  EXPECT_EQ(walked.last.type, isa::InstrType::kBranch);
  EXPECT_FALSE(walked.passed_waypoint);
}

TEST_F(WalkToTest, the_place_is_the_destination) {
  const Stretch walked = walk({kA64, Isa::kA64}, {.address = kA64});
  EXPECT_EQ(walked.count, 0U);
  EXPECT_EQ(walked.arrived, Arrived::kThere);
}

TEST_F(WalkToTest, ends_after_a_branch) {
  const Stretch walked = walk({kA64, Isa::kA64}, {.ends_at = EndsAt::kBranches, .most = 9});
  EXPECT_EQ(walked.count, 3U);
  EXPECT_EQ(walked.arrived, Arrived::kNone);
  EXPECT_EQ(walked.ended, BlockEnd::kWaypoint);
}

TEST_F(WalkToTest, ends_after_the_most_instructions) {
  EXPECT_EQ(walk({kA64, Isa::kA64}, {.ends_at = EndsAt::kWaypoints, .most = 2}).count, 2U);
}

TEST_F(WalkToTest, ends_beyond_an_address_inside_an_instruction) {
  const Stretch walked = walk({kT32, Isa::kT32}, {.address = kT32 + 4});
  EXPECT_EQ(walked.end, kT32 + 6);
  EXPECT_EQ(walked.arrived, Arrived::kBeyond);
}

TEST_F(WalkToTest, runs_over_to_the_end_of_the_memory) {
  const Stretch walked = walk({kT32, Isa::kT32}, {.address = kT32 + 4, .runs_over = true});
  EXPECT_EQ(walked.ended, BlockEnd::kNotAccessible);
  EXPECT_EQ(walked.arrived, Arrived::kNone);
  EXPECT_GE(walked.end, kT32 + 8);
}

TEST_F(WalkToTest, ends_without_credit) {
  credit_ = 2;
  const Stretch walked = walk({kA64, Isa::kA64}, {.address = kA64 + 16});
  EXPECT_EQ(walked.count, 2U);
  EXPECT_EQ(walked.ended, BlockEnd::kRangeLimit);
  EXPECT_EQ(credit_, 0U);
}

TEST_F(WalkToTest, ahead_reads_only_the_last_instruction_of_a_block) {
  const Stretch walked =
      walk_ahead(path_.follower(), {kA64, Isa::kA64}, {.address = kA64 + 8}, credit_);
  EXPECT_EQ(walked.start, kA64);
  EXPECT_EQ(walked.end, kA64 + 8);
  EXPECT_EQ(walked.count, 2U);
  EXPECT_EQ(walked.arrived, Arrived::kThere);
  EXPECT_EQ(credit_, 99U);
}

TEST_F(WalkToTest, ahead_passes_waypoints) {
  const Stretch walked =
      walk_ahead(path_.follower(), {kA64, Isa::kA64}, {.address = kA64 + 16}, credit_);
  EXPECT_EQ(walked.start, kA64);
  EXPECT_EQ(walked.end, kA64 + 16);
  EXPECT_EQ(walked.count, 4U);
  EXPECT_EQ(walked.arrived, Arrived::kThere);
  EXPECT_TRUE(walked.passed_waypoint);
  EXPECT_EQ(credit_, 98U);  // A block, and the last instruction.
}

TEST_F(WalkToTest, ahead_ends_where_memory_ends) {
  const Stretch walked =
      walk_ahead(path_.follower(), {kA64, Isa::kA64}, {.address = kA64 + 64}, credit_);
  EXPECT_EQ(walked.count, 6U);
  EXPECT_EQ(walked.end, kA64 + 24);
  EXPECT_EQ(walked.ended, BlockEnd::kNotAccessible);
}

TEST_F(WalkToTest, ahead_is_a_walk_for_every_destination) {
  for (std::uint64_t from = 0; from <= 24; from += 4) {
    for (std::uint64_t to = 0; to <= 32; ++to) {
      const Place place{kA64 + from, Isa::kA64};
      const Destination there{.address = kA64 + to};
      credit_ = 100;
      const Stretch plain = walk(place, there);
      credit_ = 100;
      const Stretch ahead = walk_ahead(path_.follower(), place, there, credit_);
      EXPECT_EQ(ahead.start, plain.start) << from << " to " << to;
      EXPECT_EQ(ahead.end, plain.end) << from << " to " << to;
      EXPECT_EQ(ahead.count, plain.count) << from << " to " << to;
      EXPECT_EQ(ahead.ended, plain.ended) << from << " to " << to;
      EXPECT_EQ(ahead.arrived, plain.arrived) << from << " to " << to;
      EXPECT_EQ(ahead.last.type, plain.last.type) << from << " to " << to;
      EXPECT_EQ(ahead.passed_waypoint, plain.passed_waypoint) << from << " to " << to;
    }
  }
}

TEST_F(WalkToTest, a_call_that_is_passed_last_is_pushed) {
  path_.go_to(kA64, Isa::kA64);
  const Stretch walked = walk({kA64, Isa::kA64}, {.address = kA64 + 8, .inclusive = true});
  pass_last(path_, walked.last, walked.end);
  EXPECT_EQ(path_.address, kA64 + 16);
  EXPECT_FALSE(path_.lost);
  EXPECT_EQ(path_.return_stack.size(), 1U);
}

TEST_F(WalkToTest, an_indirect_branch_that_is_passed_last_loses_the_path) {
  path_.go_to(kA64, Isa::kA64);
  const Stretch walked = walk({kA64 + 16, Isa::kA64}, {.most = 2});
  pass_last(path_, walked.last, walked.end);
  EXPECT_TRUE(path_.lost);
}

}  // namespace
}  // namespace waymark::flow
