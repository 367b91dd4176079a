#include "waymark/merge/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "merge/elements.h"

namespace waymark::merge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Takes the settled records, as "index@time kind".
std::vector<std::string> settled(Timeline& line) {
  std::vector<std::string> out;
  for (; line.front() != nullptr; line.pop_front()) {
    const TimedRecord& record = *line.front();
    out.push_back(std::to_string(record.element.index) + "@" +
                  (record.time == kNever ? "never" : std::to_string(record.time)) + " " +
                  std::string(time_kind_word(record.kind)));
  }
  return out;
}

TEST(Timeline, what_comes_before_the_first_time_waits_for_it) {
  Timeline line;
  line.add(plain(1, 0));
  EXPECT_THAT(settled(line), IsEmpty());
  line.add(stamp(1, 1, 500));
  EXPECT_THAT(settled(line), ElementsAre("0@500 before", "1@500 exact"));
}

TEST(Timeline, without_cycles_only_the_order_is_known) {
  Timeline line;
  line.add(stamp(1, 0, 500));
  line.add(plain(1, 1));
  line.add(plain(1, 2));
  line.add(stamp(1, 3, 600));
  EXPECT_THAT(settled(line),
              ElementsAre("0@500 exact", "1@500 after", "2@500 after", "3@600 exact"));
}

TEST(Timeline, cycles_interpolate_between_two_times) {
  Timeline line;
  line.add(stamp(1, 0, 1000));
  line.add(plain(1, 1));
  line.add(cycles(1, 2, 10));
  line.add(plain(1, 3));
  line.add(cycles(1, 4, 30));
  Element end = stamp(1, 5, 1100);
  end.cycle_count = 10;
  end.flags |= kElementHasCycleCount;
  line.add(end);
  // 50 cycles in 100 ticks: two ticks per cycle.
  EXPECT_THAT(settled(line),
              ElementsAre("0@1000 exact", "1@1000 interpolated", "2@1020 interpolated",
                          "3@1020 interpolated", "4@1080 interpolated", "5@1100 exact"));
}

TEST(Timeline, interpolation_is_exact_however_large_the_times_are) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} - 1;
  Timeline line;
  line.add(stamp(1, 0, 0));
  line.add(cycles(1, 1, 1));
  line.add(cycles(1, 2, 1));
  line.add(stamp(1, 3, kLast));
  EXPECT_THAT(settled(line),
              ElementsAre("0@0 exact", "1@" + std::to_string(kLast / 2) + " interpolated",
                          "2@" + std::to_string(kLast) + " interpolated",
                          "3@" + std::to_string(kLast) + " exact"));
}

TEST(Timeline, what_follows_the_last_time_is_after_it) {
  Timeline line;
  line.add(stamp(1, 0, 7));
  line.add(cycles(1, 1, 10));
  line.finish();
  EXPECT_THAT(settled(line), ElementsAre("0@7 exact", "1@7 after"));
}

TEST(Timeline, a_source_without_times_is_never) {
  Timeline line;
  line.add(plain(1, 0));
  line.add(cycles(1, 1, 10));
  line.finish();
  EXPECT_THAT(settled(line), ElementsAre("0@never unknown", "1@never unknown"));
}

TEST(Timeline, time_does_not_run_backwards) {
  Timeline line;
  line.add(stamp(1, 0, 100));
  line.add(cycles(1, 1, 4));
  line.add(stamp(1, 2, 50));
  line.add(stamp(1, 3, 120));
  EXPECT_THAT(settled(line),
              ElementsAre("0@100 exact", "1@100 interpolated", "2@100 after", "3@120 exact"));
}

TEST(Timeline, a_time_without_its_upper_bits_is_not_exact) {
  const auto low = [](TraceIndex index, std::uint64_t time) {
    Element element = stamp(1, index, time);
    element.flags |= kElementTimeIsPartial;
    return element;
  };
  Timeline line;
  line.add(cycles(1, 0, 4));
  line.add(low(1, 12));
  line.add(cycles(1, 2, 4));
  line.add(stamp(1, 3, 1000));
  line.add(cycles(1, 4, 4));
  line.add(low(5, 900));
  line.add(low(6, 1100));
  line.add(plain(1, 7));
  line.add(stamp(1, 8, 2000));
  line.add(cycles(1, 9, 4));
  line.add(stamp(1, 10, 3000));
  EXPECT_THAT(settled(line),
              ElementsAre("0@0 after", "1@12 after", "2@12 after", "3@1000 exact", "4@1000 after",
                          "5@1000 after", "6@1100 after", "7@1100 after", "8@2000 exact",
                          "9@3000 interpolated", "10@3000 exact"));
  EXPECT_EQ(line.backwards(), 0U);
}

TEST(Timeline, one_time_that_goes_back_does_not_advance) {
  Timeline line;
  line.add(stamp(1, 0, 100));
  line.add(stamp(1, 1, 5));
  line.add(stamp(1, 2, 120));
  line.add(stamp(1, 3, 90));
  line.add(stamp(1, 4, 130));
  EXPECT_THAT(settled(line), ElementsAre("0@100 exact", "1@100 after", "2@120 exact", "3@120 after",
                                         "4@130 exact"));
  EXPECT_EQ(line.backwards(), 2U);
  EXPECT_EQ(line.first_backwards(), 1U);
}

TEST(Timeline, one_great_time_is_given_up) {
  Timeline line;
  line.add(stamp(1, 0, 1000));
  line.add(cycles(1, 1, 7));
  line.add(stamp(1, 2, 0xF000000000000000));
  line.add(plain(1, 3));
  line.add(stamp(1, 4, 1010));
  line.add(plain(1, 5));
  line.add(stamp(1, 6, 1020));
  line.add(stamp(1, 7, 1030));
  EXPECT_THAT(settled(line),
              ElementsAre("0@1000 exact", "1@1010 before", "2@1010 before", "3@1010 before",
                          "4@1010 exact", "5@1010 after", "6@1020 exact", "7@1030 exact"));
  EXPECT_EQ(line.backwards(), 2U);
}

TEST(Timeline, a_reprogrammed_generator_is_followed) {
  Timeline line;
  line.add(stamp(1, 0, 1000));
  line.add(stamp(1, 1, 2000));
  line.add(stamp(1, 2, 10));
  line.add(stamp(1, 3, 20));
  line.add(stamp(1, 4, 30));
  EXPECT_THAT(settled(line), ElementsAre("0@1000 exact", "1@2000 exact", "2@2000 after",
                                         "3@20 exact", "4@30 exact"));
}

TEST(Timeline, software_trace_carries_its_time_and_itm_counts_between_global_times) {
  Timeline line;
  Element software = plain(1, 0);
  software.kind = ElementKind::kSwTrace;
  software.flags = kElementHasTimestamp;
  software.timestamp = 10;
  line.add(software);
  line.add(local(1, 1, 5));
  line.add(global(1, 2, 30));
  EXPECT_THAT(settled(line), ElementsAre("0@10 exact", "1@30 interpolated", "2@30 exact"));
}

TEST(Timeline, a_local_timestamp_is_the_time_of_the_packets_before_it) {
  Timeline line;
  line.add(global(1, 0, 1000));
  line.add(itm(1, 1, ItmKind::kSoftware));
  line.add(itm(1, 2, ItmKind::kHardware));
  line.add(local(1, 3, 506));
  line.add(itm(1, 4, ItmKind::kSoftware));
  line.add(local(1, 5, 500));
  line.add(itm(1, 6, ItmKind::kSoftware));
  line.add(global(1, 7, 2006));
  line.add(itm(1, 8, ItmKind::kSoftware));
  line.add(local(1, 9, 1));
  line.add(global(1, 10, 2007));
  EXPECT_THAT(settled(line),
              ElementsAre("0@1000 exact", "1@1506 interpolated", "2@1506 interpolated",
                          "3@1506 interpolated", "4@2006 interpolated", "5@2006 interpolated",
                          "6@2006 interpolated", "7@2006 exact", "8@2007 interpolated",
                          "9@2007 interpolated", "10@2007 exact"));
}

TEST(Timeline, damage_keeps_its_place) {
  Timeline line;
  line.add(stamp(1, 0, 100));
  Diagnostic damage;
  damage.index = 9;
  damage.trace_id = 1;
  damage.fault = Fault::kBadPacket;
  line.add(damage);
  line.finish();
  line.pop_front();
  ASSERT_NE(line.front(), nullptr);
  EXPECT_TRUE(line.front()->is_damage);
  EXPECT_EQ(line.front()->damage.fault, Fault::kBadPacket);
  EXPECT_EQ(line.front()->time, 100U);
}

TEST(Timeline, waiting_has_a_bound) {
  Timeline line;
  line.add(stamp(1, 0, 5));
  for (std::size_t i = 0; i <= Timeline::kMaxOpen; ++i) line.add(plain(1, i));
  EXPECT_EQ(line.held(), Timeline::kMaxOpen + 2);
  std::size_t count = 0;
  for (; line.front() != nullptr; line.pop_front()) ++count;
  EXPECT_EQ(count, Timeline::kMaxOpen + 2);
}

TEST(Timeline, cycles_before_the_bound_count_for_the_next_time) {
  Timeline line;
  line.add(stamp(1, 0, 1000));
  constexpr std::uint64_t kBefore = Timeline::kMaxOpen + 1;
  for (std::uint64_t i = 1; i <= kBefore; ++i) line.add(cycles(1, i, 1));
  for (; line.front() != nullptr; line.pop_front()) {
    ASSERT_EQ(line.front()->time, 1000U);
  }
  line.add(cycles(1, kBefore + 1, 1));
  line.add(cycles(1, kBefore + 2, 1));
  line.add(stamp(1, kBefore + 3, 1000 + kBefore + 2));
  ASSERT_NE(line.front(), nullptr);
  EXPECT_EQ(line.front()->time, 1000 + kBefore + 1);
  EXPECT_EQ(line.front()->kind, TimeKind::kInterpolated);
}

}  // namespace
}  // namespace waymark::merge
