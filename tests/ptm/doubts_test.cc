#include "waymark/ptm/doubts.h"

#include <gtest/gtest.h>

namespace waymark::ptm {
namespace {

Config given() {
  Config config;
  config.etmcr = 0;
  return config;
}

TEST(PtmDoubtCounts, a_few_are_damage_and_many_are_told_once) {
  Doubts doubts(given());
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(doubts.arise(Doubt::kContextIdOff));
  EXPECT_TRUE(doubts.arise(Doubt::kContextIdOff));
  EXPECT_FALSE(doubts.arise(Doubt::kContextIdOff));
}

TEST(PtmDoubtCounts, an_async_begins_a_new_count) {
  Doubts doubts(given());
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(doubts.arise(Doubt::kContextIdOff));
  doubts.forget_counts();
  EXPECT_FALSE(doubts.arise(Doubt::kContextIdOff));
}

TEST(PtmDoubtCounts, registers_that_were_not_given_raise_none) {
  Doubts doubts{Config{}};
  for (unsigned i = 0; i < 20; ++i) EXPECT_FALSE(doubts.arise(Doubt::kContextIdOff));
}

TEST(PtmDoubtCounts, bytes_after_a_reserved_header_can_be_cycle_counts) {
  Doubts doubts(given());
  doubts.watch();
  for (unsigned i = 0; i < 6; ++i) {
    EXPECT_FALSE(doubts.take_found());
    doubts.take_unsynced(0x04);
  }
  EXPECT_TRUE(doubts.take_found());
  EXPECT_FALSE(doubts.take_found());
}

TEST(PtmDoubtCounts, other_bytes_are_not_watched) {
  Doubts doubts(given());
  for (unsigned i = 0; i < 20; ++i) doubts.take_unsynced(0x04);
  EXPECT_FALSE(doubts.take_found());
  EXPECT_TRUE(doubts == Doubts(given()));
}

}  // namespace
}  // namespace waymark::ptm
