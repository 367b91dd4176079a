#include "waymark/exports/events.h"

#include <gtest/gtest.h>

#include "waymark/element/dwt.h"

namespace waymark::exports {
namespace {

std::vector<Event> events(const Element& element) {
  std::vector<Event> out;
  events_of(element, out);
  return out;
}

Element itm(ItmKind kind, std::uint32_t number, std::uint64_t value, std::uint32_t bytes) {
  Element element;
  element.kind = ElementKind::kItmTrace;
  element.trace_id = 3;
  element.extra = static_cast<std::uint8_t>(kind);
  element.number = number;
  element.start = value;
  element.extra_value = bytes;
  return element;
}

TEST(EventsOf, write_to_a_port) {
  const Event expected{
      .source = 3, .kind = EventKind::kPort, .number = 7, .value = 0x41, .bits = 8};
  EXPECT_EQ(events(itm(ItmKind::kSoftware, 7, 0x41, 1)), std::vector{expected});
}

TEST(EventsOf, lost_packets_come_first) {
  Element element = itm(ItmKind::kSoftware, 7, 0x41, 1);
  element.extra |= kItmOverflow;
  ASSERT_EQ(events(element).size(), 2);
  EXPECT_EQ(events(element)[0].kind, EventKind::kGap);
}

TEST(EventsOf, exception_of_the_dwt) {
  const Event expected{.source = 3, .kind = EventKind::kExceptionEntered, .number = 15};
  EXPECT_EQ(events(itm(ItmKind::kHardware, 1, 0x100F, 2)), std::vector{expected});
}

TEST(EventsOf, known_bytes_of_an_address) {
  Element element = itm(ItmKind::kHardware, 9, 0x2010, 2);  // Comparator 0: data address.
  element.end = 0xFFFF'2010ULL << 32;
  element.reason = itm_known_bytes(0, 2);
  const Event expected{.source = 3, .kind = EventKind::kDataAddress, .value = 0x2010, .bits = 16};
  EXPECT_EQ(events(element), std::vector{expected});
}

TEST(EventsOf, value_that_was_written) {
  const Event expected{.source = 3,
                       .kind = EventKind::kDataValue,
                       .number = 1,
                       .value = 0x1234,
                       .bits = 16,
                       .write = true};
  EXPECT_EQ(events(itm(ItmKind::kHardware, 19, 0x1234, 2)), std::vector{expected});
}

TEST(EventsOf, counters_that_wrapped_together) {
  const auto found = events(itm(ItmKind::kHardware, 0, kDwtCpi | kDwtCycle, 1));
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].number, kDwtCpi);
  EXPECT_EQ(found[1].number, kDwtCycle);
}

TEST(EventsOf, writes_of_software) {
  Element element;
  element.kind = ElementKind::kSwTrace;
  element.sw_id = {.master = 65, .channel = 5};
  element.start = 0x1000;
  element.extra_value = 32;
  auto found = events(element);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].kind, EventKind::kSoftware);
  EXPECT_EQ(found[0].number, 65);
  EXPECT_EQ(found[0].channel, 5);
  element.extra_value = 0;
  element.extra = kSwMarker;
  found = events(element);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].kind, EventKind::kFlag);
}

}  // namespace
}  // namespace waymark::exports
