#include "waymark/mismatch/suspects.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::mismatch {
namespace {

using Path = std::vector<Walked>;

TEST(MismatchSuspects, code_that_also_passes_is_not_blamed) {
  Suspects suspects;
  const Path bad{{0x100, 0x110}, {0x200, 0x220}, {0x300, 0x308}};
  suspects.fail(bad);
  suspects.pass(Path{{0x100, 0x110}, {0x300, 0x308}});
  ASSERT_NE(suspects.blame(bad), nullptr);
  EXPECT_EQ(suspects.blame(bad)->start, 0x200U);
  EXPECT_EQ(suspects.blame(bad)->end, 0x220U);
}

TEST(MismatchSuspects, of_equal_ones_the_one_that_fails_most_is_blamed_then_the_last) {
  Suspects suspects;
  const Path one{{0x100, 0x110}, {0x200, 0x220}};
  const Path other{{0x200, 0x220}, {0x400, 0x420}};
  suspects.fail(one);
  EXPECT_EQ(suspects.blame(one)->start, 0x200U);
  ASSERT_EQ(suspects.suspects(one).size(), 2U);
  suspects.fail(other);
  EXPECT_EQ(suspects.blame(one)->start, 0x200U);
  ASSERT_EQ(suspects.suspects(one).size(), 1U);
  EXPECT_EQ(suspects.suspects(other).front().start, 0x200U);
}

TEST(MismatchSuspects, code_of_many_bad_ways_is_blamed_before_code_of_one_that_never_passed) {
  Suspects suspects;
  const Path first{{0x100, 0x110}, {0x200, 0x220}};
  suspects.fail(first);
  for (std::uint64_t start = 0x300; start < 0x340; start += 0x10)
    suspects.fail(Path{{start, start + 8}, {0x200, 0x220}});
  suspects.pass(Path{{0x200, 0x220}});
  EXPECT_EQ(suspects.blame(first)->start, 0x200U);
}

TEST(MismatchSuspects, code_to_which_a_return_led_without_a_call_is_blamed_first) {
  Suspects suspects;
  const Path bad{{0x100, 0x110, true}, {0x200, 0x220}};
  suspects.fail(bad);
  suspects.pass(Path{{0x100, 0x110}});
  EXPECT_EQ(suspects.blame(bad)->start, 0x100U);
  EXPECT_EQ(suspects.suspects(bad).size(), 1U);
}

TEST(MismatchSuspects, a_loop_fails_once_on_each_way) {
  Suspects suspects;
  const Path looped{{0x100, 0x110}, {0x200, 0x220}, {0x200, 0x220}, {0x200, 0x220}};
  const Path plain{{0x100, 0x110}, {0x300, 0x320}};
  suspects.fail(looped);
  suspects.fail(plain);
  EXPECT_EQ(suspects.blame(looped)->start, 0x100U);
  EXPECT_EQ(suspects.suspects(looped).size(), 1U);
}

TEST(MismatchSuspects, code_that_was_entered_at_another_place_is_not_blamed) {
  Suspects suspects;
  suspects.pass(Path{{0x400, 0x420}});
  // A branch of other code led into the range.
  const Path bad{{0x100, 0x110}, {0x404, 0x420}};
  suspects.fail(bad);
  EXPECT_EQ(suspects.blame(bad)->start, 0x100U);
  // Code before the part that passed is suspect.
  const Path before{{0x3F0, 0x420}};
  suspects.fail(before);
  EXPECT_EQ(suspects.suspects(Path{{0x100, 0x110}, {0x3F0, 0x420}}).back().start, 0x3F0U);
}

TEST(MismatchSuspects, an_empty_way_blames_nothing) { EXPECT_EQ(Suspects().blame({}), nullptr); }

TEST(MismatchSuspects, memory_is_bounded) {
  Suspects suspects;
  for (std::uint64_t i = 0; i < Suspects::kMostRanges; ++i) suspects.pass(Path{{4 * i, 4 * i + 4}});
  const Path bad{{0, 4}, {1, 5}};
  suspects.fail(bad);
  EXPECT_EQ(suspects.blame(bad)->start, 1U);
}

}  // namespace
}  // namespace waymark::mismatch
