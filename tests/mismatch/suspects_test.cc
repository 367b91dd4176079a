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

TEST(MismatchSuspects, of_equal_ones_the_one_that_fails_most_is_blamed_then_the_first) {
  Suspects suspects;
  const Path one{{0x100, 0x110}, {0x200, 0x220}};
  const Path other{{0x200, 0x220}, {0x400, 0x420}};
  suspects.fail(one);
  EXPECT_EQ(suspects.blame(one)->start, 0x100U);
  suspects.fail(other);
  EXPECT_EQ(suspects.blame(one)->start, 0x200U);
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
