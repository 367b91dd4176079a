#include "waymark/protocol/detour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace waymark::protocol {
namespace {

// Strays once for each packet until a detour is due; returns the place of the last stray.
std::uint64_t stray(Detour& detour, std::uint64_t place) {
  while (!detour.due()) detour.strayed(++place);
  return place;
}

TEST(Detour, FewStraysMakeNoneDue) {
  Detour detour;
  for (unsigned i = 1; i < Detour::kStrays; ++i) detour.strayed(i);
  EXPECT_FALSE(detour.due());
  detour.strayed(Detour::kStrays);
  EXPECT_TRUE(detour.due());
}

TEST(Detour, StraysFarFromEachOtherMakeNoneDue) {
  Detour detour;
  for (std::uint64_t i = 0; i < 100; ++i) detour.strayed(i * (Detour::kNear + 1));
  EXPECT_FALSE(detour.due());
}

TEST(Detour, TheEndOfOneIsNoStray) {
  Detour detour;
  const std::uint64_t place = stray(detour, 1000);
  EXPECT_EQ(detour.begin(), Detour::kShort);
  detour.end(place + 20);
  EXPECT_FALSE(detour.due());
  EXPECT_EQ(stray(detour, place + 20), place + 20 + Detour::kStrays);
}

TEST(Detour, DetoursGetLongerWhileCountingDoesNotGetFar) {
  Detour detour;
  std::uint64_t place = 1000;
  std::size_t length = Detour::kShort;
  for (int i = 0; i < 20; ++i) {
    place = stray(detour, place);
    EXPECT_EQ(detour.begin(), length);
    length = std::min(2 * length, Detour::kLong);
    place += 50;
    detour.end(place);
  }
  EXPECT_EQ(length, Detour::kLong);
  place = stray(detour, place + Detour::kFar);
  EXPECT_EQ(detour.begin(), Detour::kShort);
}

}  // namespace
}  // namespace waymark::protocol
