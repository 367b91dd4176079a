#include "waymark/diff/aligner.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace waymark::diff {
namespace {

/// Runs whose steps are letters: a small one is a block of its own.  A step of letter N starts at
/// 0x1000 * N.
class AlignerTest : public testing::Test {
 protected:
  BlockNumber block(Side side, char letter) {
    const auto start = 0x1000 * static_cast<std::uint64_t>(letter);
    return blocks_.add(side, {.start = start, .end = start + 8, .count = 2, .last_size = 4}, {},
                       {});
  }
  void add(Side side, std::string_view letters) {
    for (const char letter : letters) aligner_.add(side, block(side, letter), 2);
  }
  void advance() {
    aligner_.advance([this](const Divergence& each) { found_.push_back(each); });
  }
  void end() {
    aligner_.end(0);
    aligner_.end(1);
    advance();
  }
  /// The steps of a run before the divergence, and its detour.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> at(std::size_t i, Side side) const {
    return {found_[i].at[side].step, found_[i].detours[side].steps};
  }

  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  Programs programs_;
  Blocks blocks_{programs_, {}};
  Aligner aligner_{blocks_, 7};
  std::vector<Divergence> found_;
};

TEST_F(AlignerTest, the_same_steps_in_pieces_agree) {
  add(0, "abc");
  advance();
  EXPECT_EQ(aligner_.waiting(0), 3U);
  add(1, "abcde");
  advance();
  EXPECT_EQ(aligner_.waiting(0) + aligner_.waiting(1), 2U);
  add(0, "de");
  end();
  EXPECT_TRUE(found_.empty());
  EXPECT_EQ(aligner_.agreement().steps, 5U);
}

TEST_F(AlignerTest, extra_steps_are_passed_over) {
  add(0, "abcdefgh");
  add(1, "abcxyzdefgh");
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].thread, 7U);
  EXPECT_EQ(at(0, 0), Pair(3, 0));
  EXPECT_EQ(at(0, 1), Pair(3, 3));
  EXPECT_EQ(found_[0].detours[1].instructions, 6U);
  EXPECT_EQ(found_[0].at[0].instruction, 6U);
  EXPECT_EQ(found_[0].joined, block(0, 'd'));
  EXPECT_EQ(aligner_.agreement().steps, 8U);
}

TEST_F(AlignerTest, more_rounds_of_a_loop_are_one_divergence) {
  add(0, "ab" + std::string(100, 'l') + "cdefgh");
  add(1, "ab" + std::string(30, 'l') + "cdefgh");
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(at(0, 0), Pair(32, 70));
  EXPECT_EQ(at(0, 1), Pair(32, 0));
}

TEST_F(AlignerTest, two_changes_near_each_other_are_two_divergences) {
  add(0, "abcdefghi");
  add(1, "abxdeyghi");
  end();
  ASSERT_EQ(found_.size(), 2U);
  EXPECT_EQ(at(0, 0), Pair(2, 1));
  EXPECT_EQ(at(1, 0), Pair(5, 1));
}

TEST_F(AlignerTest, a_long_detour_is_found_with_steps_that_come_later) {
  std::string detour;
  for (unsigned i = 0; i < 5000; ++i) detour += static_cast<char>('A' + i * i % 23);
  const std::string rest = "cdefghijklmnopqrstuvwxyzabcdefghijkl";
  add(0, "ab");
  add(1, "ab" + detour);
  advance();
  add(0, rest);
  advance();
  EXPECT_TRUE(found_.empty());
  add(1, rest);
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(at(0, 0), Pair(2, 0));
  EXPECT_EQ(at(0, 1), Pair(2, 5000));
}

TEST_F(AlignerTest, beyond_the_distance_runs_are_not_aligned_and_memory_is_bounded) {
  add(0, "ab");
  add(1, "ab");
  std::size_t most = 0;
  for (std::size_t i = 0; i < Aligner::kMostDistance / 8; ++i) {
    add(0, "ABCDEFGHIJ");
    add(1, "klmnopqrst");
    if (i % 1024 != 0) continue;
    advance();
    most = std::max(most, aligner_.waiting(0));
  }
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].joined, kNoBlock);
  EXPECT_EQ(aligner_.agreement().not_joined, 1U);
  EXPECT_EQ(found_[0].detours[0].steps, Aligner::kMostDistance / 8 * 10);
  EXPECT_LT(most, Aligner::kMostDistance + 20000);
}

TEST_F(AlignerTest, the_run_that_ends_first_is_named) {
  add(0, "abc");
  add(1, "abcdef");
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].cause, Cause::kEnd);
  EXPECT_EQ(found_[0].left, Side{0});
  EXPECT_EQ(found_[0].detours[1].steps, 3U);
  EXPECT_EQ(aligner_.agreement().not_joined, 0U);
}

TEST_F(AlignerTest, a_run_of_nothing_has_ended) {
  add(1, "abc");
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].cause, Cause::kEnd);
  EXPECT_EQ(found_[0].at[0].block, kNoBlock);
}

TEST_F(AlignerTest, steps_that_end_alike_meet_inside) {
  add(0, "ab");
  add(1, "ab");
  const Step first{.start = 0x100, .end = 0x120, .count = 8, .last_size = 4};
  const Step second{.start = 0x110, .end = 0x120, .count = 4, .last_size = 4};
  aligner_.add(0, blocks_.add(0, first, {}, {}), 8);
  aligner_.add(1, blocks_.add(1, second, {}, {}), 4);
  add(0, "cdef");
  add(1, "cdef");
  end();
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_TRUE(found_[0].joined_inside);
  EXPECT_EQ(found_[0].cause, Cause::kOtherCode);  // After a direct branch.
  EXPECT_EQ(aligner_.agreement().steps, 6U);
}

}  // namespace
}  // namespace waymark::diff
