#include "../../src/view/health.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::view {
namespace {

constexpr TrackNumber kThread = 3;
constexpr TrackNumber kEvents = kEventTracks + 0x10;
const std::vector<Track> kTracks = {{.number = kThread, .name = "sort (12)", .group = "cpu_0"},
                                    {.number = kEvents, .name = "events", .group = "cpu_0"}};

TEST(Health, TheFirstSentenceIsTheTitle) {
  const HealthFinding finding = finding_of("The file is cut. Copy it again. It is short.");
  EXPECT_EQ(finding.title, "The file is cut");
  EXPECT_EQ(finding.text, "Copy it again. It is short.");
  EXPECT_FALSE(finding.at);
  EXPECT_EQ(finding_of("The file is cut.").title, "The file is cut");
  EXPECT_EQ(finding_of("The file is cut.").text, "");
  EXPECT_EQ(finding_of("").title, "");
}

TEST(Health, NothingIsWrongWithAWholeTrace) {
  Overview overview;
  overview.add(kThread, {.from = 0, .to = 100, .instructions = 100});
  overview.track(kThread).last = 100;
  EXPECT_TRUE(places_of_loss(overview, kTracks).empty());
}

TEST(Health, AGapHasItsShareAndItsPlace) {
  Overview overview;
  overview.add(kThread, {.from = 0, .to = 60, .instructions = 100});
  overview.add(kThread, {.from = 60, .to = 80, .is_gap = true});
  overview.add(kThread, {.from = 80, .to = 100, .instructions = 100});
  overview.track(kThread).last = 100;
  const auto findings = places_of_loss(overview, kTracks);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "cpu_0: it is not known what executed in 20.0 % of the time");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].track, kThread);
  EXPECT_NEAR(findings[0].at.value(), 60, overview.width());
}

TEST(Health, AGapNamesItsThread) {
  Overview overview;
  overview.add(kThread, {.from = 0, .to = 10, .is_gap = true});
  overview.track(kThread).last = 10;
  const std::vector<Track> tracks = {
      {.number = kThread, .thread = "sort (12)", .name = "sort (12)", .group = "cpu_0"}};
  const auto findings = places_of_loss(overview, tracks);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].title.starts_with("cpu_0, sort (12): ")) << findings[0].title;
}

TEST(Health, OverflowsAreCountedAndComeFirst) {
  Overview overview;
  overview.add(kThread, {.from = 0, .to = 10, .is_gap = true});
  overview.track(kThread).last = 10;
  OverviewTrack& events = overview.track(kEvents);
  events.add({.at = 4, .kind = "trigger", .text = "trigger"});
  events.add({.at = 5, .kind = "overflow", .text = "overflow", .count = 3});
  events.add({.at = 9, .kind = "overflow", .text = "overflow"});
  const auto findings = places_of_loss(overview, kTracks);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].title, "cpu_0: trace was lost 4 times in overflows");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].count, 4U);
  EXPECT_EQ(findings[0].at, 5);
  EXPECT_EQ(findings[1].severity, Severity::kNote);
}

}  // namespace
}  // namespace waymark::view
