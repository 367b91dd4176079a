#include "../../src/view/skipped_elements.h"

#include <gtest/gtest.h>

namespace waymark::view {
namespace {

constexpr TraceId kId = 0x10;

std::vector<Element> at(std::initializer_list<TraceIndex> places) {
  std::vector<Element> elements;
  for (const TraceIndex place : places) {
    Element element{};
    element.index = place;
    element.trace_id = kId;
    elements.push_back(element);
  }
  return elements;
}

TEST(SkippedElements, leaves_out_what_is_earlier_and_a_number_of_the_rest) {
  SkippedElements skipped;
  skipped.skip_to(kId, {.index = 100, .skip = 2});
  const auto early = at({98, 99});
  EXPECT_TRUE(skipped.rest_of(early).empty());
  const auto late = at({100, 100, 100, 101});
  EXPECT_EQ(skipped.rest_of(late).size(), 2U);
  const auto later = at({102});
  EXPECT_EQ(skipped.rest_of(later).size(), 1U);
}

TEST(SkippedElements, reports_whether_a_number_is_left) {
  SkippedElements skipped;
  EXPECT_FALSE(skipped.counts());
  skipped.skip_to(kId, {.index = 100, .skip = 0});
  EXPECT_FALSE(skipped.counts());
  skipped.skip_to(kId, {.index = 100, .skip = 2});
  EXPECT_TRUE(skipped.counts());
  const auto one = at({100});
  EXPECT_TRUE(skipped.rest_of(one).empty());
  EXPECT_TRUE(skipped.counts());
  EXPECT_TRUE(skipped.rest_of(one).empty());
  EXPECT_FALSE(skipped.counts());
  skipped.skip_to(kId, {.index = 100, .skip = 1});
  skipped.reset();
  EXPECT_FALSE(skipped.counts());
}

}  // namespace
}  // namespace waymark::view
