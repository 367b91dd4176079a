#include "waymark/etmv3/reference_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::etmv3 {
namespace {

std::vector<Element> elements(TraceIndex first, std::size_t count) {
  std::vector<Element> made(count);
  for (Element& element : made) element.index = first++;
  return made;
}

TEST(ReferenceQueue, a_slot_keeps_what_it_held_a_round_before) {
  QueueSlots slots;
  const std::size_t size = slots.size();
  slots.push().start = 0x8000;
  for (std::size_t i = 1; i < size; ++i) slots.push();
  slots.send(size);
  EXPECT_EQ(slots.push().start, 0x8000U);
}

TEST(ReferenceQueue, a_full_queue_grows_by_half) {
  QueueSlots slots;
  const std::size_t size = slots.size();
  for (std::size_t i = 0; i < size; ++i) slots.push().start = static_cast<std::uint32_t>(i);
  slots.send(2);
  slots.push().start = 100;
  slots.push().start = 101;
  EXPECT_EQ(slots.size(), size);
  slots.push().start = 102;
  EXPECT_EQ(slots.size(), size + size / 2);
  EXPECT_EQ(slots.data()[1].start, 2U);
  EXPECT_EQ(slots.data()[size].start, 101U);
  EXPECT_EQ(slots.data()[size + 1].start, 102U);
}

TEST(ReferenceQueue, a_dropped_element_frees_its_slot) {
  QueueSlots slots;
  const std::size_t next = slots.next();
  slots.push().start = 0x8000;
  slots.drop(1);
  EXPECT_EQ(slots.next(), next);
  EXPECT_EQ(slots.push().start, 0x8000U);
}

TEST(ReferenceQueue, a_loop_reports_its_progress) {
  QueueSlots slots;
  for (int i = 0; i < 3; ++i) slots.push();
  slots.sent(slots.next(), 1);
  slots.send(1);
  EXPECT_EQ(slots.next(), 4U);
}

TEST(ReferenceQueue, an_element_is_stale_after_a_round) {
  ReferenceQueue queue;
  const std::size_t size = queue.slots.size();
  queue.remember(elements(0, size - 2));
  EXPECT_EQ(queue.stale({}), nullptr);
  const std::vector<Element> waiting = elements(100, 3);
  ASSERT_NE(queue.stale(waiting), nullptr);
  EXPECT_EQ(queue.stale(waiting)->index, 1U);
  const std::vector<Element> many = elements(100, size + 1);
  EXPECT_EQ(queue.stale(many)->index, 101U);
}

TEST(ReferenceQueue, only_the_latest_elements_are_remembered) {
  ReferenceQueue queue;
  const std::size_t size = queue.slots.size();
  queue.remember(elements(0, 100));
  EXPECT_EQ(queue.stale({})->index, 100 - size);
  for (std::size_t i = 0; i < size; ++i) queue.slots.push();
  queue.slots.push();
  queue.remember(elements(100, 100));
  EXPECT_EQ(queue.stale({})->index, 200 - queue.slots.size());
}

TEST(ReferenceQueue, a_reset_forgets_elements_and_slots) {
  ReferenceQueue queue;
  queue.remember(elements(0, 100));
  queue.slots.push().start = 0x8000;
  queue.pended = 1;
  queue.reset();
  EXPECT_EQ(queue.stale({}), nullptr);
  EXPECT_EQ(queue.slots.push().start, 0U);
  EXPECT_EQ(queue.pended, 0U);
}

}  // namespace
}  // namespace waymark::etmv3
