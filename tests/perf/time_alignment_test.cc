// At which places of the trace events of processes take effect.
#include "waymark/perf/time_alignment.h"

#include <gtest/gtest.h>

namespace waymark::perf {
namespace {

constexpr TraceId kId = 0x10;

class TimeAlignmentTest : public testing::Test {
 protected:
  TimeAlignmentTest() {
    recording_.units.push_back({.cpu = 0, .trace_id = kId, .timestamp_source = 1});
    recording_.units.push_back({.cpu = 1, .trace_id = TraceId{0x12}, .timestamp_source = 1});
    recording_.time = TimeConversion{.shift = 1, .multiplier = 20, .zero = 1000};
    recording_.buffers.push_back({.bytes = {}, .cpu = 0});
  }
  /// A mapping at the time of a count of the counter, and `late` ns after it.
  void map_at(std::uint64_t cycles, std::uint64_t late = 0) {
    recording_.events.push_back({.time = ns(cycles) + late, .what = Mapping{}});
  }
  void switch_at(std::uint64_t cycles, std::uint32_t cpu) {
    recording_.events.push_back({.time = ns(cycles), .cpu = cpu, .what = Switched{}});
  }
  [[nodiscard]] std::uint64_t ns(std::uint64_t cycles) const {
    return recording_.time->nanoseconds(cycles);
  }
  void begin(std::uint64_t end_time = ~std::uint64_t{0}, TraceIndex begin = 100) {
    if (!alignment_) alignment_.emplace(recording_);
    alignment_->begin_piece({.sample = {.time = end_time}}, begin);
  }
  void stamp(TraceIndex index, std::uint64_t cycles, bool whole = true) {
    alignment_->on_timestamp(recording_.units[0], index, cycles, whole);
  }
  std::vector<TimedPlace> places() { return alignment_->take()[kId]; }

  Recording recording_;
  std::optional<TimeAlignment> alignment_;
};

TEST_F(TimeAlignmentTest, counts_become_the_time_of_the_recording) {
  EXPECT_EQ(ns(0), 1000U);
  EXPECT_EQ(ns(7), 1000U + 3 * 20 + 10);
}

TEST_F(TimeAlignmentTest, counts_of_a_short_counter_are_those_near_the_recording) {
  constexpr std::uint64_t kTurn = std::uint64_t{1} << 56;
  recording_.time->near = {.cycles = 3 * kTurn - 5, .mask = kTurn - 1};
  EXPECT_EQ(recording_.time->whole_count(7, 64), 3 * kTurn + 7);
  EXPECT_EQ(recording_.time->whole_count(kTurn - 9, 64), 3 * kTurn - 9);
  EXPECT_EQ(recording_.time->whole_count(3 * kTurn - 9, 64), 3 * kTurn - 9);
  recording_.time->near = {.cycles = 7, .mask = ~std::uint64_t{0}};
  EXPECT_EQ(recording_.time->whole_count(~std::uint64_t{0}, 64), ~std::uint64_t{0});
}

TEST_F(TimeAlignmentTest, a_timestamp_has_fewer_bits_than_the_counter) {
  constexpr std::uint64_t kWrapped = std::uint64_t{1} << 48;
  recording_.time->near = {.cycles = kWrapped - 5, .mask = (std::uint64_t{1} << 56) - 1};
  recording_.units[0].registers = {{"TRCIDR0", 6U << 24}};
  map_at(kWrapped + 25);
  begin();
  stamp(110, kWrapped - 10);
  stamp(120, 20);
  stamp(130, 30);
  EXPECT_EQ(places(),
            (std::vector<TimedPlace>{{100, ns(kWrapped - 10)}, {121, ns(kWrapped + 30)}}));
}

TEST_F(TimeAlignmentTest, a_mapping_holds_after_the_timestamp_before_it) {
  map_at(25);
  begin();
  stamp(110, 10);
  stamp(120, 20);
  stamp(130, 30);
  stamp(140, 40);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}, {121, ns(30)}}));
}

TEST_F(TimeAlignmentTest, a_mapping_at_the_time_of_a_timestamp_is_before_it) {
  map_at(20);
  map_at(30, 1);
  begin();
  stamp(110, 10);
  stamp(120, 20);
  stamp(130, 30);
  stamp(140, 40);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}, {111, ns(20)}, {131, ns(40)}}));
}

TEST_F(TimeAlignmentTest, a_mapping_holds_from_the_last_break_on) {
  map_at(25);
  begin();
  const Unit& unit = recording_.units[0];
  alignment_->on_break(unit, 105);
  stamp(120, 20);
  alignment_->on_break(unit, 122);
  alignment_->on_break(unit, 126);
  stamp(130, 30);
  alignment_->on_break(unit, 133);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(20)}, {126, ns(30)}}));
}

TEST_F(TimeAlignmentTest, each_piece_begins_with_its_first_timestamp) {
  map_at(15);
  begin();
  stamp(110, 10);
  begin(~std::uint64_t{0}, 200);
  stamp(210, 20);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}, {200, ns(20)}}));
}

TEST_F(TimeAlignmentTest, timestamps_without_their_upper_bits_do_not_count) {
  map_at(15);
  begin();
  stamp(105, 99, false);
  stamp(106, 0);
  stamp(110, 10);
  stamp(120, 20, false);
  stamp(130, 5);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}, {111, ns(20)}}));
}

TEST_F(TimeAlignmentTest, timestamps_after_the_record_of_the_trace_are_of_another_clock) {
  map_at(15);
  begin(ns(1000));
  stamp(110, 10);
  stamp(120, 1'000'000'000);
  stamp(130, 30);
  EXPECT_EQ(alignment_->implausible(), 1U);
  EXPECT_TRUE(places().empty());
}

TEST_F(TimeAlignmentTest, switches_concern_one_cpu_and_only_without_context_ids) {
  switch_at(15, 0);
  switch_at(25, 1);
  begin();
  for (TraceIndex i = 1; i < 5; ++i) stamp(100 + 10 * i, 10 * i);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}, {111, ns(20)}}));
  recording_.units[0].registers = {{"TRCCONFIGR", 1U << 6}};
  alignment_.emplace(recording_);
  begin();
  stamp(110, 10);
  stamp(120, 20);
  EXPECT_EQ(places(), (std::vector<TimedPlace>{{100, ns(10)}}));
}

TEST_F(TimeAlignmentTest, a_piece_matters_if_something_happened_since_the_one_before) {
  map_at(25);
  alignment_.emplace(recording_);
  EXPECT_FALSE(alignment_->matters({.sample = {.time = ns(20)}}));
  EXPECT_TRUE(alignment_->matters({.sample = {.time = ns(30)}}));
  EXPECT_FALSE(alignment_->matters({.sample = {.time = ns(40)}}));
}

}  // namespace
}  // namespace waymark::perf
