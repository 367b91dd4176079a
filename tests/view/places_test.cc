#include "../../src/view/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sample.h"

namespace waymark::view {
namespace {

TEST(Places, the_first_instruction) {
  Sample sample;
  const auto answer = place_of(*sample.replay, {sample.source, 0}, sample.knowledge, kGoOn);
  ASSERT_TRUE(answer) << answer.error().detail;
  EXPECT_EQ(sample.name(answer->place.function), "_start");
  EXPECT_EQ(answer->place.offset, 0U);
  EXPECT_EQ(answer->place.isa, "A64");
  EXPECT_EQ(answer->place.bytes.size(), 8U);
  EXPECT_EQ(answer->place.at, 0);
  ASSERT_EQ(answer->stack.size(), 1U);
  EXPECT_EQ(answer->stack[0].function, answer->place.function);
  ASSERT_FALSE(answer->functions.empty());
}

TEST(Places, every_instruction_follows_the_one_before_it) {
  Sample sample;
  std::uint64_t next = 0;
  const std::uint64_t total = sample.replay->total(sample.source);
  ASSERT_EQ(total, 44901U);
  std::uint64_t checked = 0;
  for (std::uint64_t n = 500; n < 6000; n += 700) {
    const auto answer =
        places_around(*sample.replay, {sample.source, n}, 350, 349, sample.knowledge, kGoOn);
    ASSERT_TRUE(answer) << answer.error().detail;
    ASSERT_EQ(answer->places.size(), 700U);
    for (std::size_t i = 0; i < answer->places.size(); ++i) {
      const Place& place = answer->places[i];
      EXPECT_EQ(place.instant.n, n - 350 + i);
      EXPECT_EQ(place.at, static_cast<double>(place.instant.n) * FakeReplay::kScale);
      if (next != 0 && i != 0 && place.event.empty()) {
        EXPECT_EQ(place.address, next) << place.instant.n;
      }
      next = place.target != 0 ? place.target : place.address + 4;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 5600U);
}

TEST(Places, the_stack_has_the_calls) {
  Sample sample;
  // The deepest stack.
  PlaceAnswer deepest;
  for (std::uint64_t n = 0; n < 20000; n += 500) {
    auto answer = place_of(*sample.replay, {sample.source, n}, sample.knowledge, kGoOn);
    ASSERT_TRUE(answer);
    if (answer->stack.size() > deepest.stack.size()) deepest = *answer;
  }
  ASSERT_GT(deepest.stack.size(), 3U);
  EXPECT_EQ(sample.name(deepest.stack.back().function), "_start");
  EXPECT_EQ(sample.name(deepest.stack[deepest.stack.size() - 2].function), "run");
  EXPECT_GT(deepest.stack[0].line, 0U);
  EXPECT_TRUE(deepest.stack[0].file.ends_with("quicksort.c")) << deepest.stack[0].file;
}

TEST(Places, ends) {
  Sample sample;
  const std::uint64_t total = sample.replay->total(sample.source);
  const auto last =
      places_around(*sample.replay, {sample.source, total - 1}, 2, 10, sample.knowledge, kGoOn);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->places.size(), 3U);
  const auto after = place_of(*sample.replay, {sample.source, total}, sample.knowledge, kGoOn);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(
      place_of(*sample.replay, {sample.source, ~std::uint64_t{0}}, sample.knowledge, kGoOn));
  EXPECT_FALSE(place_of(*sample.replay, {99, 0}, sample.knowledge, kGoOn));
  EXPECT_FALSE(places_around(*sample.replay, {sample.source, 0}, 513, 0, sample.knowledge, kGoOn));
  EXPECT_TRUE(places_around(*sample.replay, {sample.source, 0}, 512, 512, sample.knowledge, kGoOn));
}

TEST(Places, exceptions_and_gaps_are_before_instructions) {
  Sample sample;
  std::size_t events = 0;
  for (std::uint64_t n = 500; n < 44000; n += 1000) {
    const auto answer =
        places_around(*sample.replay, {sample.source, n}, 500, 499, sample.knowledge, kGoOn);
    ASSERT_TRUE(answer);
    events += static_cast<std::size_t>(std::ranges::count_if(
        answer->places, [](const Place& place) { return place.event.contains("exception"); }));
  }
  EXPECT_GT(events, 0U);
}

TEST(Places, stops) {
  Sample sample;
  const auto answer =
      place_of(*sample.replay, {sample.source, 1000}, sample.knowledge, [] { return true; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace waymark::view
