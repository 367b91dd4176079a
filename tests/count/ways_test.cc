#include "waymark/count/ways.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::count {
namespace {

constexpr Place kFrom = 64;

TEST(Ways, a_way_belongs_to_an_exit_an_address_and_an_instruction_set) {
  Ways ways;
  const WayKey a32{.address = 0x1000, .mark = 0};
  const WayKey t32{.address = 0x1000, .mark = WayKey::kT32};
  EXPECT_EQ(ways.find(kFrom, a32), nullptr);
  ways.add(kFrom, a32, 128).times = 3;
  ways.add(kFrom, t32, 144);
  ASSERT_NE(ways.find(kFrom, a32), nullptr);
  EXPECT_EQ(ways.find(kFrom, a32)->times, 3U);
  EXPECT_EQ(ways.find(kFrom, a32)->to, 128U);
  EXPECT_EQ(ways.find(kFrom, t32)->to, 144U);
  EXPECT_EQ(ways.find(kFrom, t32)->from(), kFrom);
  EXPECT_EQ(ways.find(kFrom + 16, a32), nullptr);
  EXPECT_EQ(ways.find(kFrom, {.address = 0x1004, .mark = 0}), nullptr);
}

TEST(Ways, are_found_however_many_there_are) {
  Ways ways;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    ways.add(16 * (1 + i % 100), {.address = i, .mark = 0}, i).times = i;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const Way* const way = ways.find(16 * (1 + i % 100), {.address = i, .mark = 0});
    ASSERT_NE(way, nullptr) << i;
    ASSERT_EQ(way->times, i);
  }
  const auto used =
      std::ranges::count_if(ways.slots(), [](const Way& way) { return way.marked_from != 0; });
  EXPECT_EQ(used, 100'000);
}

TEST(Ways, are_full_at_some_time_and_empty_after_clear) {
  Ways ways;
  for (std::uint32_t i = 0; !ways.full(); ++i) {
    ASSERT_LT(i, 1U << 21) << "no bound";
    ways.add(kFrom, {.address = i, .mark = 0}, 0);
  }
  ways.clear();
  EXPECT_FALSE(ways.full());
  EXPECT_EQ(ways.find(kFrom, {.address = 0, .mark = 0}), nullptr);
}

}  // namespace
}  // namespace waymark::count
