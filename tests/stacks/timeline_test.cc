#include "waymark/stacks/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace waymark::stacks {
namespace {

class Log final : public TimedSink {
 public:
  void on_unit(TimeUnit unit) override {
    text += fmt::format("{} ", "tci"[static_cast<int>(unit)]);
  }
  void on_track(TrackId track, TraceId source, std::uint64_t) override {
    text += fmt::format("track{}@{} ", track, source);
  }
  void on_enter(TrackId track, std::uint64_t time, CodeId code, Opening) override {
    text += fmt::format("{}:{}+{} ", track, time, code);
  }
  void on_leave(TrackId track, std::uint64_t time) override {
    text += fmt::format("{}:{}- ", track, time);
  }
  void on_instant(TrackId track, std::uint64_t time, Instant) override {
    text += fmt::format("{}:{}! ", track, time);
  }
  std::string text;
};

class StackTimeline : public testing::Test {
 protected:
  Timeline& make(const Timeline::Options& options = {}) {
    timeline_ = std::make_unique<Timeline>(log_, options);
    timeline_->on_track(0, 7, 0);
    timeline_->on_switch(7, 0, 0);
    return *timeline_;
  }
  std::string finish() {
    timeline_->finish();
    return log_.text;
  }

  Log log_;
  std::unique_ptr<Timeline> timeline_;
};

TEST_F(StackTimeline, without_times_instructions_count) {
  Timeline& timeline = make();
  timeline.on_enter(0, 3, 1, Opening::kCall);
  timeline.on_leave(0, 9);
  EXPECT_EQ(finish(), "i track0@7 0:3+1 0:9- ");
}

TEST_F(StackTimeline, time_is_divided_by_instructions) {
  Timeline& timeline = make();
  timeline.on_timestamp(7, 10, 1000);
  timeline.on_enter(0, 15, 1, Opening::kCall);
  timeline.on_leave(0, 20);
  timeline.on_timestamp(7, 30, 3000);
  EXPECT_EQ(finish(), "t track0@7 0:1500+1 0:2000- ");
}

TEST_F(StackTimeline, before_the_first_and_after_the_last_timestamp) {
  Timeline& timeline = make();
  timeline.on_enter(0, 5, 1, Opening::kCall);
  timeline.on_timestamp(7, 10, 1000);
  timeline.on_leave(0, 20);
  EXPECT_EQ(finish(), "t track0@7 0:1000+1 0:1000- ");
}

TEST_F(StackTimeline, time_is_divided_across_a_gap_of_unknown_length) {
  Timeline& timeline = make();
  timeline.on_timestamp(7, 0, 1000);
  timeline.on_enter(0, 5, 1, Opening::kCall);
  timeline.on_leave(0, 10);
  timeline.on_gap(7, 10);
  timeline.on_enter(0, 10, 2, Opening::kInferred);
  timeline.on_timestamp(7, 20, 9000);
  timeline.on_leave(0, 25);
  timeline.on_timestamp(7, 30, 9100);
  EXPECT_EQ(finish(), "t track0@7 0:3000+1 0:5000- 0:5000+2 0:9050- ");
}

TEST_F(StackTimeline, a_gap_ends_at_a_timestamp_that_no_instruction_precedes) {
  Timeline& timeline = make();
  timeline.on_timestamp(7, 0, 1000);
  timeline.on_enter(0, 5, 1, Opening::kCall);
  timeline.on_leave(0, 10);
  timeline.on_gap(7, 10);
  timeline.on_enter(0, 10, 2, Opening::kInferred);
  timeline.on_timestamp(7, 10, 9000);
  timeline.on_leave(0, 25);
  timeline.on_timestamp(7, 30, 9100);
  EXPECT_EQ(finish(), "t track0@7 0:1000+1 0:1000- 0:9000+2 0:9075- ");
}

TEST_F(StackTimeline, cycles) {
  Timeline& timeline = make();
  timeline.on_enter(0, 5, 1, Opening::kCall);
  timeline.on_cycles(7, 10, 100);
  timeline.on_leave(0, 15);
  timeline.on_cycles(7, 20, 50);
  EXPECT_EQ(finish(), "c track0@7 0:50+1 0:125- ");
}

TEST_F(StackTimeline, timestamps_that_go_back) {
  Timeline& timeline = make();
  timeline.on_timestamp(7, 0, 1000);
  timeline.on_timestamp(7, 10, 500);  // Damaged.
  timeline.on_enter(0, 15, 1, Opening::kCall);
  timeline.on_timestamp(7, 20, 2000);
  timeline.on_timestamp(7, 30, 100);  // The clock was set.
  timeline.on_timestamp(7, 40, 200);
  timeline.on_leave(0, 45);
  timeline.on_timestamp(7, 50, 300);
  EXPECT_EQ(finish(), "t track0@7 0:1750+1 0:2150- ");
  EXPECT_EQ(timeline.backwards(), 3U);
}

TEST_F(StackTimeline, a_source_without_times_is_left_out) {
  Timeline& timeline = make();
  timeline.on_track(1, 8, 0);
  timeline.on_switch(8, 1, 0);
  timeline.on_enter(1, 0, 1, Opening::kCall);
  timeline.on_timestamp(7, 10, 1000);
  timeline.on_leave(1, 20);
  EXPECT_EQ(finish(), "t track0@7 track1@8 ");
  EXPECT_EQ(timeline.timeless(), std::vector<TraceId>{8});
}

TEST_F(StackTimeline, tracks_with_instructions_of_their_own) {
  Timeline& timeline = make({.tracks_apart = true});
  timeline.on_track(1, 7, 1);
  timeline.on_enter(0, 0, 1, Opening::kCall);
  timeline.on_switch(7, 1, 10);
  timeline.on_enter(1, 10, 2, Opening::kCall);
  timeline.on_switch(7, 0, 30);
  timeline.on_leave(0, 35);
  timeline.on_leave(1, 35);
  EXPECT_EQ(finish(), "i track0@7 track1@7 0:0+1 1:0+2 0:15- 1:20- ");
}

TEST_F(StackTimeline, many_events_without_a_timestamp) {
  Timeline& timeline = make({.unit = Timeline::Choice::kTimestamps});
  timeline.on_timestamp(7, 0, 1000);
  for (std::uint64_t i = 1; i <= Timeline::kMaxWaiting; ++i)
    timeline.on_instant(0, i, Instant::kGap);
  timeline.on_instant(0, Timeline::kMaxWaiting + 10, Instant::kGap);
  timeline.on_timestamp(7, Timeline::kMaxWaiting + 20, 1200);
  EXPECT_TRUE(finish().ends_with("0:1000! 0:1100! "));
}

}  // namespace
}  // namespace waymark::stacks
