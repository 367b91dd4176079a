#include "waymark/locate/slide_votes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/random.h"

namespace waymark::locate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SlideVotes, the_slide_of_most_addresses_comes_first) {
  const std::vector<std::uint64_t> sites{0x1004, 0x1010, 0x2008};
  const std::vector<std::uint64_t> addresses{0x8'1004, 0x8'1010, 0x8'2008};
  const auto votes = vote(addresses, sites, {});
  ASSERT_THAT(votes, SizeIs(1));
  EXPECT_EQ(votes.front(), (SlideVote{0x8'0000, 3}));
}

TEST(SlideVotes, slides_are_multiples_of_the_granule) {
  const std::vector<std::uint64_t> sites{0x1004, 0x1010};
  const std::vector<std::uint64_t> addresses{0x2008, 0x2014};
  EXPECT_THAT(vote(addresses, sites, {}), IsEmpty());
  const auto votes = vote(addresses, sites, {.granule = 4});
  ASSERT_FALSE(votes.empty());
  EXPECT_EQ(votes.front(), (SlideVote{0x1004, 2}));
}

TEST(SlideVotes, addresses_below_those_of_the_link_wrap) {
  const std::vector<std::uint64_t> sites{0xF000'0004};
  const std::vector<std::uint64_t> addresses{0x1004};
  EXPECT_THAT(vote(addresses, sites, {.mask = 0xFFFF'FFFF}),
              ElementsAre(SlideVote{0x1000'1000, 1}));
  EXPECT_THAT(vote(addresses, sites, {}), ElementsAre(SlideVote{0xFFFF'FFFF'1000'1000, 1}));
}

TEST(SlideVotes, the_budget_bounds_how_many_addresses_are_used) {
  const std::vector<std::uint64_t> sites{0, 4, 8, 12};
  const std::vector<std::uint64_t> addresses{100, 104, 108};
  const auto votes = vote(addresses, sites, {.granule = 4, .budget = 8});
  std::uint32_t sum = 0;
  for (const SlideVote& one : votes) sum += one.votes;
  EXPECT_EQ(sum, 8U);
}

TEST(SlideVotes, the_best_stay_when_there_are_many) {
  support::Random random(1);
  std::vector<std::uint64_t> sites(3000);
  for (std::uint64_t& site : sites) site = std::uint64_t{random.below(1U << 20)} * 4;
  std::ranges::sort(sites);
  std::vector<std::uint64_t> addresses(100);
  for (std::size_t i = 0; i < addresses.size(); ++i)
    addresses[i] = sites[i * 29] + 0x1234'5678'9AB0;
  const auto votes = vote(addresses, sites, {.granule = 4, .most = 5});
  ASSERT_THAT(votes, SizeIs(5));
  EXPECT_EQ(votes.front().slide, 0x1234'5678'9AB0U);
  EXPECT_GE(votes.front().votes, 100U);
}

}  // namespace
}  // namespace waymark::locate
