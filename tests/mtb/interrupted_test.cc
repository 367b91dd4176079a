#include "waymark/mtb/interrupted.h"

#include <gtest/gtest.h>

namespace waymark::mtb {
namespace {

TEST(MtbInterrupted, gives_back_each_place_once) {
  Interrupted places;
  places.push(0x100, 2);
  places.push(0x200, 0);
  EXPECT_EQ(places.take(0x100), 2);
  EXPECT_EQ(places.take(0x100), std::nullopt);
  EXPECT_EQ(places.take(0x200), 0);
}

TEST(MtbInterrupted, prefers_the_newest_place_at_an_address) {
  Interrupted places;
  places.push(0x100, 1);
  places.push(0x100, 3);
  EXPECT_EQ(places.take(0x100), 3);
  EXPECT_EQ(places.take(0x100), 1);
}

TEST(MtbInterrupted, forgets_the_oldest_place_first) {
  Interrupted places;
  for (std::uint32_t i = 0; i <= Interrupted::kMost; ++i) places.push(i, 0);
  EXPECT_EQ(places.take(0), std::nullopt);
  EXPECT_EQ(places.take(1), 0);
  EXPECT_EQ(places.take(Interrupted::kMost), 0);
}

}  // namespace
}  // namespace waymark::mtb
