#include "waymark/merge/time_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "merge/elements.h"

namespace waymark::merge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Taken final : RecordSink {
  void on_record(const TimedRecord& record) override { records.push_back(record); }
  /// "ID:index" of each record.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    out.reserve(records.size());
    for (const TimedRecord& record : records)
      out.push_back(std::to_string(record.element.trace_id) + ":" +
                    std::to_string(record.element.index));
    return out;
  }
  std::vector<TimedRecord> records;
};

TEST(TimeMerge, sources_come_in_the_order_of_time) {
  Taken taken;
  TimeMerge merge({2, 1}, taken);
  merge.add(stamp(1, 0, 100));
  merge.add(plain(1, 1));
  merge.add(stamp(1, 2, 300));
  EXPECT_THAT(taken.records, IsEmpty()) << "nothing is known of the other yet";
  merge.add(stamp(2, 3, 50));
  merge.add(stamp(2, 4, 200));
  merge.finish();
  EXPECT_THAT(taken.names(), ElementsAre("2:3", "1:0", "1:1", "2:4", "1:2"));
  EXPECT_EQ(merge.late(), 0U);
  EXPECT_THAT(merge.timeless(), IsEmpty());
}

TEST(TimeMerge, sources_without_times_come_last_in_their_order) {
  Taken taken;
  TimeMerge merge({1, 2}, taken);
  merge.add(plain(1, 0));
  merge.add(stamp(2, 1, 50));
  merge.add(plain(1, 2));
  merge.finish();
  EXPECT_THAT(taken.names(), ElementsAre("2:1", "1:0", "1:2"));
  EXPECT_THAT(merge.timeless(), ElementsAre(1));
}

TEST(TimeMerge, damage_of_no_source_goes_out_at_once) {
  Taken taken;
  TimeMerge merge({1}, taken);
  merge.add(plain(1, 0));
  merge.add(Diagnostic{});
  ASSERT_EQ(taken.records.size(), 1U);
  EXPECT_TRUE(taken.records[0].is_damage);
}

TEST(TimeMerge, a_damaged_time_does_not_hold_its_source_back) {
  Taken taken;
  TimeMerge merge({1, 2}, taken);
  merge.add(stamp(1, 0, 1000));
  merge.add(stamp(1, 1, 0xF000000000000000));
  merge.add(stamp(1, 2, 1010));
  merge.add(stamp(1, 3, 1020));
  merge.add(stamp(2, 4, 1005));
  merge.add(stamp(2, 5, 1015));
  merge.add(stamp(2, 6, 1025));
  merge.finish();
  EXPECT_THAT(taken.names(), ElementsAre("1:0", "2:4", "1:1", "1:2", "2:5", "1:3", "2:6"));
  EXPECT_EQ(merge.late(), 0U);
  ASSERT_EQ(merge.backwards().size(), 1U);
  EXPECT_EQ(merge.backwards()[0].id, 1);
  EXPECT_EQ(merge.backwards()[0].count, 2U);
  EXPECT_EQ(merge.backwards()[0].first, 2U);
}

TEST(TimeMerge, a_silent_source_is_not_waited_for_without_end) {
  Taken taken;
  TimeMerge merge({1, 2}, taken);
  for (std::size_t i = 0; i < TimeMerge::kMaxHeld + 10; ++i) merge.add(stamp(1, i, i));
  EXPECT_EQ(taken.records.size(), 10U);
  merge.add(stamp(2, 0, 3));
  merge.finish();
  EXPECT_EQ(merge.late(), 1U);
  EXPECT_EQ(taken.records.size(), TimeMerge::kMaxHeld + 11);
}

TEST(TimeMerge, order_within_a_source_never_changes_and_time_never_falls) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 200; ++round) {
    Taken taken;
    TimeMerge merge({1, 2, 3}, taken);
    std::uint64_t times[4] = {};
    std::size_t added = 0;
    for (; added < 300; ++added) {
      const auto id = static_cast<TraceId>(1 + random() % 3);
      switch (random() % 3) {
        case 0:
          merge.add(plain(id, added));
          break;
        case 1:
          merge.add(cycles(id, added, static_cast<std::uint32_t>(random() % 50)));
          break;
        default:
          merge.add(stamp(id, added, times[id] += random() % 100));
      }
    }
    merge.finish();
    ASSERT_EQ(taken.records.size(), added);
    std::uint64_t time = 0;
    TraceIndex last[4] = {};
    for (const TimedRecord& record : taken.records) {
      ASSERT_GE(record.time, time);
      time = record.time;
      ASSERT_GE(record.element.index, last[record.element.trace_id]);
      last[record.element.trace_id] = record.element.index;
    }
    EXPECT_EQ(merge.late(), 0U);
  }
}

}  // namespace
}  // namespace waymark::merge
