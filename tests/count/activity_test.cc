#include "waymark/count/activity.h"

#include <gtest/gtest.h>

#include <string_view>

namespace waymark::count {
namespace {

Element itm(ItmKind kind, std::uint32_t source, std::uint64_t payload, std::uint32_t size) {
  Element element;
  element.kind = ElementKind::kItmTrace;
  element.extra = static_cast<std::uint8_t>(kind);
  element.number = source;
  element.start = payload;
  element.extra_value = size;
  return element;
}

void write(Activity& activity, std::string_view text, std::uint32_t port = 0) {
  for (const char c : text) {
    const Element element = itm(ItmKind::kSoftware, port, static_cast<unsigned char>(c), 1);
    activity.observe({&element, 1});
  }
}

TEST(Activity, samples_exceptions_and_overflows_since_the_last_look) {
  Activity activity;
  Element elements[] = {
      itm(ItmKind::kHardware, 2, 0x8000100, 4), itm(ItmKind::kHardware, 2, 0x8000100, 4),
      itm(ItmKind::kHardware, 2, 0x8000104, 4), itm(ItmKind::kHardware, 2, 0, 1),
      itm(ItmKind::kHardware, 1, 0x100F, 2),    itm(ItmKind::kHardware, 1, 0x200F, 2)};
  elements[3].extra |= kItmOverflow;
  activity.observe(elements);
  const ActivityCounts counts = activity.take();
  EXPECT_EQ(counts.samples, 3U);
  EXPECT_EQ(counts.sleeping, 1U);
  EXPECT_EQ(counts.places.at({0x8000100}), 2U);
  EXPECT_EQ(counts.exceptions.at(15), 1U);
  EXPECT_EQ(counts.overflows, 1U);
  EXPECT_EQ(activity.take().weight(), 0U);
}

TEST(Activity, instructions_count_where_their_range_begins) {
  Activity activity;
  Element range;
  range.kind = ElementKind::kInstrRange;
  range.start = 0x400;
  range.count = 7;
  Element exception;
  exception.kind = ElementKind::kException;
  exception.number = 5;
  Element lost;
  lost.kind = ElementKind::kTraceOn;
  lost.reason = static_cast<std::uint8_t>(TraceOnReason::kOverflow);
  for (const Element& element : {range, range, exception, lost}) activity.observe({&element, 1});
  const ActivityCounts counts = activity.take();
  EXPECT_EQ(counts.instructions, 14U);
  EXPECT_EQ(counts.places.at({0x400}), 14U);
  EXPECT_EQ(counts.exceptions.at(5), 1U);
  EXPECT_EQ(counts.overflows, 1U);
}

TEST(Activity, text_of_ports_is_kept_by_line) {
  Activity activity;
  write(activity, "one\r\ntw");
  write(activity, "other\n", 3);
  write(activity, "o\n");
  ASSERT_EQ(activity.lines().size(), 3U);
  EXPECT_EQ(activity.lines()[0].text, "one");
  EXPECT_EQ(activity.lines()[1].port, 3U);
  EXPECT_EQ(activity.lines()[2].text, "two");
  EXPECT_EQ(activity.take().ports.at(0), 9U);
}

TEST(Activity, memory_is_bounded) {
  Activity activity;
  write(activity, std::string(10 * Activity::kLongestLine, 'x'));
  EXPECT_LE(activity.lines().size(), Activity::kMostLines);
  for (const Activity::PortLine& line : activity.lines())
    EXPECT_LE(line.text.size(), Activity::kLongestLine);
  for (int i = 0; i < 100; ++i) write(activity, "line\n");
  EXPECT_EQ(activity.lines().size(), Activity::kMostLines);
  ActivityCounts counts;
  for (std::uint64_t i = 0; i < ActivityCounts::kMostPlaces + 5; ++i) counts.add_place({i}, 2);
  EXPECT_EQ(counts.places.size(), ActivityCounts::kMostPlaces);
  EXPECT_EQ(counts.unlisted, 10U);
}

}  // namespace
}  // namespace waymark::count
