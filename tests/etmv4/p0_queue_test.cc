#include "waymark/etmv4/p0_queue.h"

#include <gtest/gtest.h>

namespace waymark::etmv4 {
namespace {

const P0Queue kFresh;

TEST(Etmv4P0Queue, entries_leave_at_both_ends) {
  P0Queue queue;
  for (TraceIndex index = 1; index <= 4; ++index) queue.add(EntryKind::kEvent, index);
  queue.pop_front();
  queue.pop_back();
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.front().index, 2U);
  EXPECT_EQ(queue.back().index, 3U);
  EXPECT_EQ(queue.at(1).index, 3U);
}

// The front moves; what is before it does not count.
TEST(Etmv4P0Queue, equal_with_another_front) {
  P0Queue a;
  P0Queue b;
  for (TraceIndex index = 0; index < 10'000; ++index) a.add(EntryKind::kEvent, index);
  while (a.size() > 2) a.pop_front();
  EXPECT_FALSE(a == b);
  b.add(EntryKind::kEvent, 9'998);
  b.add(EntryKind::kEvent, 9'999);
  EXPECT_TRUE(a == b);
  b.depth = 1;
  EXPECT_FALSE(a == b);
}

TEST(Etmv4P0Queue, the_held_address_becomes_the_first_entry) {
  P0Queue queue;
  queue.hold(5, 0x1000, 1);
  EXPECT_TRUE(queue.holds());
  EXPECT_TRUE(queue.empty());
  queue.add(EntryKind::kEvent, 6);
  EXPECT_FALSE(queue.holds());
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.front().kind, EntryKind::kAddress);
  EXPECT_EQ(queue.front().index, 5U);
  EXPECT_EQ(queue.front().value, 0x1000U);
  EXPECT_EQ(queue.front().is, 1);
}

TEST(Etmv4P0Queue, what_was_held_does_not_count) {
  P0Queue queue;
  queue.hold(5, 0x1000, 1);
  EXPECT_FALSE(queue == kFresh);
  queue.drop_held();
  EXPECT_TRUE(queue == kFresh);
}

TEST(Etmv4P0Queue, an_exception_leads_to_an_address_with_or_without_a_context) {
  P0Queue queue;
  queue.add(EntryKind::kException, 1);
  queue.add(EntryKind::kContext, 2).context_id = 7;
  queue.add(EntryKind::kAddress, 3).value = 0x1000;
  queue.add(EntryKind::kException, 4);
  queue.add(EntryKind::kAddress, 5).value = 0x2000;
  const std::optional<Arrival> first = queue.pop_with_arrival();
  ASSERT_TRUE(first && first->context);
  EXPECT_EQ(first->context->context_id, 7U);
  EXPECT_EQ(first->address.value, 0x1000U);
  const std::optional<Arrival> second = queue.pop_with_arrival();
  ASSERT_TRUE(second && !second->context);
  EXPECT_EQ(second->address.value, 0x2000U);
  EXPECT_TRUE(queue.empty());
}

TEST(Etmv4P0Queue, an_exception_without_an_address_leads_nowhere) {
  P0Queue queue;
  queue.add(EntryKind::kException, 1);
  queue.add(EntryKind::kContext, 2);
  EXPECT_FALSE(queue.pop_with_arrival());
  EXPECT_EQ(queue.size(), 1U);
}

TEST(Etmv4P0Queue, addresses_after_the_last_atoms_are_dropped) {
  P0Queue queue;
  queue.add(EntryKind::kAddress, 1);
  queue.add(EntryKind::kAtom, 2);
  queue.add(EntryKind::kAddress, 3);
  queue.add(EntryKind::kEvent, 4);
  EXPECT_EQ(queue.newer_than_atoms(), 2U);
  queue.drop_addresses(2);
  ASSERT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.back().kind, EntryKind::kEvent);
}

TEST(Etmv4P0Queue, reset_forgets_everything) {
  P0Queue queue;
  queue.add(EntryKind::kQ, 1);
  queue.depth = 3;
  queue.awaits_address = true;
  queue.reset();
  EXPECT_TRUE(queue == kFresh);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace waymark::etmv4
