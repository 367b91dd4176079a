#include "waymark/interval/intervals.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace waymark::interval {
namespace {

Element range(std::uint32_t count) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.count = count;
  return element;
}
Element timestamp(std::uint64_t time) {
  Element element;
  element.kind = ElementKind::kTimestamp;
  element.flags = kElementHasTimestamp;
  element.timestamp = time;
  return element;
}
Element cycles(std::uint32_t count) {
  Element element;
  element.kind = ElementKind::kCycleCount;
  element.flags = kElementHasCycleCount;
  element.cycle_count = count;
  return element;
}
Element gap() {
  Element element;
  element.kind = ElementKind::kTraceOn;
  return element;
}

/// A trace in which `from` and `to` happen before some of its elements.
class IntervalsTest : public testing::Test {
 protected:
  void pass(std::initializer_list<Element> elements) {
    for (Element element : elements) {
      element.index = ++index_;
      intervals_.observe(element);
    }
  }
  void happen(End end, std::uint64_t instructions = 0) {
    Element element = range(0);
    element.index = ++index_;
    intervals_.happen(end, element, instructions);
  }
  std::vector<std::uint64_t> lengths(Unit unit) {
    const Distribution& all = intervals_.lengths(unit).distribution;
    std::vector<std::uint64_t> values;
    for (unsigned i = 1; i <= all.count(); ++i)
      values.push_back(all.quantile(static_cast<unsigned>(1000 * i / all.count())));
    return values;
  }

  using List = std::vector<std::uint64_t>;
  Intervals intervals_;
  TraceIndex index_ = 0;
};

TEST_F(IntervalsTest, instructions_between_the_nearest_places) {
  pass({range(10)});
  happen(End::kTo);  // Nothing began.
  happen(End::kFrom);
  pass({range(5)});
  happen(End::kFrom, 2);  // The interval begins here.
  pass({range(7)});
  happen(End::kTo, 1);
  pass({range(3)});
  happen(End::kTo);  // It has ended.
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kInstructions), (List{6}));
  EXPECT_EQ(intervals_.begun(), 2U);
  EXPECT_EQ(intervals_.ended(), 3U);
  EXPECT_EQ(intervals_.pairs(), 1U);
  EXPECT_FALSE(intervals_.has(Unit::kTime));
  EXPECT_EQ(intervals_.lengths(Unit::kInstructions).shortest->begin, 17U);
}

TEST_F(IntervalsTest, time_is_divided_evenly_between_timestamps) {
  pass({timestamp(1000), range(10)});
  happen(End::kFrom);
  pass({range(20)});
  happen(End::kTo);
  pass({range(10), timestamp(1400)});
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kTime), (List{200}));
  EXPECT_EQ(intervals_.lengths(Unit::kTime).longest->begin, 1100U);
}

TEST_F(IntervalsTest, an_interval_may_contain_timestamps) {
  pass({timestamp(0), range(10)});
  happen(End::kFrom);
  pass({range(10), timestamp(200), range(10), timestamp(1200), range(5)});
  happen(End::kTo);
  pass({range(5), timestamp(1300)});
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kTime), (List{1150}));
}

TEST_F(IntervalsTest, without_a_time_before_and_after_there_is_no_length) {
  pass({range(1)});
  happen(End::kFrom);
  pass({range(1)});
  happen(End::kTo);
  pass({range(1), timestamp(100), range(1)});
  happen(End::kFrom);
  pass({range(1)});
  happen(End::kTo);
  intervals_.finish();
  EXPECT_TRUE(intervals_.has(Unit::kTime));
  EXPECT_EQ(lengths(Unit::kTime), List{});
  EXPECT_EQ(lengths(Unit::kInstructions), (List{1, 1}));
}

TEST_F(IntervalsTest, an_interval_that_began_before_the_first_time_has_none) {
  pass({range(1)});
  happen(End::kFrom);
  pass({range(1), timestamp(100), range(1)});
  happen(End::kTo);
  pass({range(1), timestamp(200)});
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kTime), List{});
}

TEST_F(IntervalsTest, cycle_counts_are_added_up) {
  pass({cycles(5), range(10)});
  happen(End::kFrom);
  pass({range(10), cycles(40), range(10)});
  happen(End::kTo);
  pass({cycles(7)});
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kCycles), (List{27}));
  EXPECT_FALSE(intervals_.has(Unit::kTime));
}

TEST_F(IntervalsTest, no_interval_goes_across_a_gap) {
  pass({timestamp(0)});
  happen(End::kFrom);
  pass({range(10), gap(), range(10)});
  happen(End::kTo);
  pass({timestamp(50)});
  intervals_.finish();
  EXPECT_EQ(intervals_.pairs(), 0U);
  EXPECT_EQ(lengths(Unit::kTime), List{});
}

TEST_F(IntervalsTest, what_has_no_instructions_gets_the_time_that_follows) {
  Element write;
  write.kind = ElementKind::kItmTrace;
  Element time = write;
  time.extra = static_cast<std::uint8_t>(ItmKind::kTimestampSync);
  time.flags = kElementHasTimestamp;
  happen(End::kFrom);
  time.timestamp = 100;
  pass({write, time});
  happen(End::kTo);
  time.timestamp = 350;
  pass({write, time});
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kTime), (List{250}));
}

TEST_F(IntervalsTest, elements_with_times_of_their_own) {
  Element message;
  message.kind = ElementKind::kCustom;
  message.flags = kElementHasTimestamp;
  message.timestamp = 70;
  intervals_.happen(End::kFrom, message);
  intervals_.observe(message);
  message.timestamp = 95;
  intervals_.happen(End::kTo, message);
  intervals_.observe(message);
  intervals_.finish();
  EXPECT_EQ(lengths(Unit::kTime), (List{25}));
}

TEST(Lengths, of_equal_extremes_the_first_in_the_trace_counts) {
  Lengths first;
  first.add({.from = 50, .to = 60, .length = 4});
  Lengths second;
  second.add({.from = 10, .to = 20, .length = 4});
  Lengths sum = first;
  sum.add(second);
  EXPECT_EQ(sum.shortest->from, 10U);
  EXPECT_EQ(sum.longest->from, 10U);
  second.add(first);
  EXPECT_EQ(second.longest->from, 10U);
  EXPECT_EQ(second.distribution.count(), 2U);
}

}  // namespace
}  // namespace waymark::interval
