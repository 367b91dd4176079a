// A session's answers are those of a plain decode of the whole capture.
#include "waymark/view/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "real_session.h"
#include "sample.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/timeline.h"
#include "waymark/synth/random.h"
#include "waymark/view/report.h"

namespace waymark::view {
namespace {

/// Places of a plain decode have this many fractions of a unit.
constexpr unsigned kFraction = 20;

/// A frame of a plain decode.
struct Frame {
  double start = 0;
  double end = 0;
  std::string name{};
};
using Rows = std::map<std::pair<stacks::TrackId, std::size_t>, std::vector<Frame>>;

/// Collects frames by track and depth.
class Slices final : public stacks::TimedSink {
 public:
  Rows rows;
  const stacks::Tree* tree = nullptr;
  double scale = 1;

  void on_unit(stacks::TimeUnit /*unit*/) override {}
  void on_track(stacks::TrackId /*track*/, TraceId /*source*/, std::uint64_t /*thread*/) override {}
  void on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId code,
                stacks::Opening /*opening*/) override {
    open_[track].push_back(
        {.start = static_cast<double>(time) / scale, .name = name_of(tree->code(code))});
  }
  void on_leave(stacks::TrackId track, std::uint64_t time) override {
    Frame frame = open_[track].back();
    open_[track].pop_back();
    frame.end = static_cast<double>(time) / scale;
    rows[{track, open_[track].size()}].push_back(frame);
  }
  void on_instant(stacks::TrackId /*track*/, std::uint64_t /*time*/,
                  stacks::Instant /*what*/) override {}

 private:
  std::map<stacks::TrackId, std::vector<Frame>> open_;
};

/// Gives the timeline finer times.
class Finer final : public stacks::Sink {
 public:
  Finer(stacks::Timeline& to, std::uint64_t origin) : to_(to), origin_(origin) {}
  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
    to_.on_track(track, source, thread);
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    to_.on_switch(source, track, position);
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override {
    to_.on_enter(track, position, code, opening);
  }
  void on_leave(stacks::TrackId track, std::uint64_t position) override {
    to_.on_leave(track, position);
  }
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
    to_.on_instant(track, position, what);
  }
  void on_gap(TraceId source, std::uint64_t position) override { to_.on_gap(source, position); }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    to_.on_timestamp(source, position, (time - origin_) << kFraction);
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    to_.on_cycles(source, position, cycles << kFraction);
  }

 private:
  stacks::Timeline& to_;
  std::uint64_t origin_;
};

stacks::Timeline::Choice choice_of(AxisUnit unit) {
  if (unit == AxisUnit::kTicks) return stacks::Timeline::Choice::kTimestamps;
  return unit == AxisUnit::kCycles ? stacks::Timeline::Choice::kCycles
                                   : stacks::Timeline::Choice::kInstructions;
}

/// All frames of a capture, with places by stacks::Timeline.
Rows plain_rows(const std::string& path, const Axis& axis, bool named) {
  auto capture = inputs::Capture::open(path, {});
  if (!capture) return {};
  Slices slices;
  if (axis.unit != AxisUnit::kInstructions) slices.scale = std::ldexp(1.0, kFraction);
  stacks::Timeline timeline(slices, {.unit = choice_of(axis.unit)});
  Finer finer(timeline, axis.origin);
  stacks::Options options;
  if (named) options = *stack_options(*capture);
  options.sink = &finer;
  stacks::Engine engine(std::move(options));
  slices.tree = &engine.tree();
  set_sources(engine, *capture);
  engine.observe(elements_of(*capture));
  engine.finish();
  timeline.finish();
  return std::move(slices.rows);
}

/// The spans of a window must be these frames, cut to it.
void check_spans(const Timeline& timeline, const Rows& rows, const std::string& what) {
  std::map<FunctionNumber, std::string> names;
  for (const FunctionName& each : timeline.functions) names[each.number] = each.name;
  const double slack = 1e-5 * (1 + timeline.to);
  for (const TrackPicture& track : timeline.tracks) {
    if (track.track >= 0x10000000) continue;
    std::map<std::size_t, std::vector<Span>> drawn;
    for (const Span& span : track.spans) drawn[span.depth].push_back(span);
    for (const auto& [key, frames] : rows) {
      if (key.first != track.track || key.second >= 512) continue;
      std::size_t wanted = 0;
      std::size_t at_edges = 0;
      for (const Frame& frame : frames) {
        if (frame.end < timeline.from - slack || frame.start > timeline.to + slack) continue;
        ++wanted;
        if (frame.end < timeline.from + slack || frame.start > timeline.to - slack) ++at_edges;
      }
      std::size_t found = 0;
      for (const Span& span : drawn[key.second]) {
        found += span.count;
        if (span.count > 1) continue;
        const bool known = std::ranges::any_of(frames, [&](const Frame& frame) {
          return frame.name == names[span.function] &&
                 std::abs(std::max(frame.start, timeline.from) - span.start) <= slack &&
                 std::abs(std::min(frame.end, timeline.to) - span.end) <= slack;
        });
        EXPECT_TRUE(known) << what << ": track " << track.track << ", depth " << key.second << ": "
                           << names[span.function] << " " << span.start << " to " << span.end;
        if (!known) {
          for (const Frame& frame : frames)
            if (std::abs(frame.start - span.start) < 200 || std::abs(frame.end - span.end) < 200)
              std::printf("  plain %s %f to %f\n", frame.name.c_str(), frame.start, frame.end);
          return;
        }
      }
      EXPECT_LE(found, wanted) << what << ": track " << track.track << ", depth " << key.second;
      EXPECT_GE(found + at_edges, wanted)
          << what << ": track " << track.track << ", depth " << key.second;
      if (found > wanted || found + at_edges < wanted) return;
    }
  }
}

/// WAYMARK_WINDOWS=N tests N windows of each capture, and other ones for each N; without it,
/// few.
std::uint64_t wanted_windows() {
  const char* const text = std::getenv("WAYMARK_WINDOWS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

/// Windows of all sizes, at many places, with keyframes at many places.  `named`: functions have
/// names where the capture has symbols.
void check_windows(const std::string& path, bool named = true) {
  Rows rows;
  std::vector<Window> windows;
  const std::uint64_t wanted = wanted_windows();
  synth::Random random(17 + wanted);
  for (const std::uint64_t distance :
       {std::uint64_t{256} << 10, std::uint64_t{1} << 10, std::uint64_t{208}}) {
    SessionOptions options = options_of(path, distance);
    if (!named) options.stack_options = {};
    const auto session = open(options);
    ASSERT_TRUE(session);
    const CaptureFacts facts = session->facts();
    if (windows.empty()) {
      rows = plain_rows(path, facts.axis, named);
      const double length = facts.axis.length;
      // Without the code of its programs, a capture without timestamps has no axis.
      if (length == 0) return;
      windows.push_back({.from = 0, .to = length});
      for (std::uint64_t i = 0; i < std::max<std::uint64_t>(wanted, 12); ++i) {
        const double from = length * random.below(1'000'000) / 1'000'000.0;
        windows.push_back(
            {.from = from, .to = from + length * std::pow(0.5, i % 12) + length * 0.00001});
      }
    }
    for (const Window& window : windows) {
      const auto timeline = session->timeline(window, 1000, {});
      ASSERT_TRUE(timeline) << timeline.error().detail;
      EXPECT_FALSE(timeline->summary);
      check_spans(*timeline, rows,
                  path + ", keyframes of " + std::to_string(distance) + ", window from " +
                      std::to_string(window.from) + " to " + std::to_string(window.to));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(TraceSession, windows_of_quicksort) { check_windows(Sample::folder()); }

TEST(TraceSession, windows_of_quicksort_without_names) { check_windows(Sample::folder(), false); }

TEST(TraceSession, windows_of_snapshots) {
  const std::filesystem::path folder =
      std::string(WAYMARK_SOURCE_DIR) + "/../shared/data/snapshots";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded captures";
  for (const char* const name : {"TC2", "juno_r1_1", "tc2-ptm-rstk-t32", "a55-test-tpiu",
                                 "ete_spec_3", "infrastructure", "test-file-mem-offsets"}) {
    if (!std::filesystem::exists(folder / name)) continue;
    check_windows((folder / name).string());
    if (HasFailure()) return;
  }
}

TEST(TraceSession, windows_of_all_snapshots) {
  const std::filesystem::path folder =
      std::string(WAYMARK_SOURCE_DIR) + "/../shared/data/snapshots";
  if (wanted_windows() == 0) GTEST_SKIP() << "WAYMARK_WINDOWS is not set";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded captures";
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    for (const bool named : {true, false}) {
      SCOPED_TRACE(each.path().filename().string() + (named ? "" : " without names"));
      check_windows(each.path().string(), named);
    }
    if (HasFatalFailure()) return;
  }
}

/// A session whose reading ends early, as if a file could no longer be read.
TEST(TraceSession, pictures_do_not_wait_for_the_decoders_of_questions) {
  SessionOptions options = options_of(Sample::folder());
  options.decoders = 1;
  const auto session = open(options);
  ASSERT_NE(session, nullptr);
  const double length = session->facts().axis.length;
  std::atomic<bool> holds = false;
  std::atomic<bool> go_on = false;
  // A question is asked whether to stop while it has the only decoder of questions.
  std::thread slow([&] {
    (void)session->place_at(0, length / 2, [&] {
      holds = true;
      while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return true;
    });
    holds = true;
  });
  while (!holds) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const Stop late = [&] { return std::chrono::steady_clock::now() > end; };
  const auto picture = session->timeline({.from = 0, .to = length / 2}, 100, late);
  // That this question waits shows that the first one has its decoder.
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  const auto other =
      session->place_at(0, length / 2, [&] { return std::chrono::steady_clock::now() > soon; });
  go_on = true;
  slow.join();
  EXPECT_TRUE(picture) << picture.error().detail;
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().detail, "The request was cancelled.");
}

TEST(TraceSession, reports_why_reading_ended_early) {
  SessionOptions options = options_of(Sample::folder());
  options.stack_options = [calls = std::make_shared<std::atomic<int>>()](
                              const inputs::Capture& capture) -> Result<stacks::Options> {
    // The axis and the names of functions are there before reading begins.
    if (++*calls == 3) return fail(ErrorCode::kIo, "The disk is gone.");
    return stack_options(capture);
  };
  const auto session = make_session(options);
  ASSERT_TRUE(session) << session.error().detail;
  for (int i = 0; i < 5000 && (*session)->facts().failure.empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ((*session)->facts().failure, "The disk is gone.");
  EXPECT_EQ((*session)->facts().stage, Stage::kReading);
  // A report must not wait for more.
  EXPECT_TRUE(wait_until_ready(**session, [] { return false; }));
  const auto findings = (*session)->health({});
  ASSERT_TRUE(findings);
  ASSERT_FALSE(findings->empty());
  EXPECT_EQ(findings->front().severity, Severity::kError);
  EXPECT_EQ(findings->front().text, "The disk is gone. The trace after this place is not shown.");
}

}  // namespace
}  // namespace waymark::view
