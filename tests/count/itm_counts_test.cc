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

}  // namespace
}  // namespace waymark::count
