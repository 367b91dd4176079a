// Counts of ITM trace, made from its elements.
#include "waymark/count/itm_counts.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::count {
namespace {

Element itm(ItmKind kind, std::uint32_t source, unsigned size, std::uint32_t value) {
  Element element{};
  element.kind = ElementKind::kItmTrace;
  element.extra = static_cast<std::uint8_t>(kind);
  element.number = source;
  element.extra_value = size;
  element.start = value;
  return element;
}

TEST(ItmCounts, each_packet_is_counted_as_what_it_is) {
  ItmCounts counts;
  EXPECT_TRUE(counts.empty());
  std::vector<Element> elements = {
      itm(ItmKind::kSoftware, 3, 4, 1),       itm(ItmKind::kSoftware, 3, 1, 1),
      itm(ItmKind::kSoftware, 0, 2, 1),       itm(ItmKind::kHardware, 1, 2, 0x100F),
      itm(ItmKind::kHardware, 1, 2, 0x200F),  itm(ItmKind::kHardware, 1, 2, 0x3000),
      itm(ItmKind::kHardware, 2, 4, 0x8000),  itm(ItmKind::kHardware, 2, 4, 0x8000),
      itm(ItmKind::kHardware, 2, 1, 0),       itm(ItmKind::kHardware, 17, 4, 5),
      itm(ItmKind::kTimestampSync, 0, 1, 5),  itm(ItmKind::kBothDelay, 0, 1, 5),
      itm(ItmKind::kGlobalTimestamp, 0, 4, 5)};
  elements.back().extra |= kItmOverflow;
  elements.emplace_back().kind = ElementKind::kNoSync;
  counts.observe(elements);
  EXPECT_FALSE(counts.empty());
  EXPECT_EQ(counts.writes, 3U);
  EXPECT_EQ(counts.ports.at(3).writes, 2U);
  EXPECT_EQ(counts.ports.at(3).bytes, 5U);
  EXPECT_EQ(counts.ports.at(0).bytes, 2U);
  EXPECT_EQ(counts.exceptions.at(15).entered, 1U);
  EXPECT_EQ(counts.exceptions.at(15).exited, 1U);
  EXPECT_EQ(counts.exceptions.at(0).returned, 1U);
  EXPECT_EQ(counts.of(DwtKind::kException), 3U);
  EXPECT_EQ(counts.of(DwtKind::kPcSample), 2U);
  EXPECT_EQ(counts.samples.at(0x8000), 2U);
  EXPECT_EQ(counts.of(DwtKind::kSleeping), 1U);
  EXPECT_EQ(counts.of(DwtKind::kDataWrite), 1U);
  EXPECT_EQ(counts.local_timestamps, 2U);
  EXPECT_EQ(counts.global_timestamps, 1U);
  EXPECT_EQ(counts.overflows, 1U);
}

TEST(ItmCounts, durations_of_exceptions) {
  std::vector<Element> elements;
  const auto exception = [&](std::uint32_t number, DwtExceptionAction action, std::uint64_t time) {
    elements.push_back(
        itm(ItmKind::kHardware, 1, 2, number | static_cast<std::uint32_t>(action) << 12));
    elements.push_back(itm(ItmKind::kTimestampSync, 0, 1, 0));
    elements.back().timestamp = time;
  };
  exception(15, DwtExceptionAction::kEntered, 5);
  exception(20, DwtExceptionAction::kEntered, 15);
  exception(20, DwtExceptionAction::kExited, 25);
  exception(15, DwtExceptionAction::kReturnedTo, 30);
  exception(15, DwtExceptionAction::kExited, 45);
  exception(15, DwtExceptionAction::kEntered, 60);
  exception(15, DwtExceptionAction::kExited, 61);
  exception(16, DwtExceptionAction::kExited, 70);  // Entered before the trace.
  ItmCounts counts;
  counts.observe(elements);
  const ItmCounts::Exception& tick = counts.exceptions.at(15);
  EXPECT_EQ(tick.measured, 2);
  EXPECT_EQ(tick.total, 41);
  EXPECT_EQ(tick.own, 31);
  EXPECT_EQ(tick.shortest, 1);
  EXPECT_EQ(tick.longest, 40);
  EXPECT_EQ(counts.exceptions.at(20).deepest, 1);
  EXPECT_EQ(counts.exceptions.at(16).measured, 0);
}

}  // namespace
}  // namespace waymark::count
