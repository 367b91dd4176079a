#include "waymark/etmv3/element_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace waymark::etmv3 {
namespace {

Element element(TraceIndex index, ElementKind kind = ElementKind::kInstrRange) {
  Element made;
  made.index = index;
  made.kind = kind;
  return made;
}

/// The indexes of the elements that can be taken, at most `most` at a time.
std::vector<TraceIndex> drain(ElementQueue& queue, std::size_t most = 8) {
  std::vector<Element> out(most);
  std::vector<TraceIndex> indexes;
  while (const std::size_t count = queue.drain(out))
    for (std::size_t i = 0; i < count; ++i) indexes.push_back(out[i].index);
  return indexes;
}

using Indexes = std::vector<TraceIndex>;

TEST(ElementQueue, what_is_held_cannot_be_taken) {
  ElementQueue queue;
  for (TraceIndex i = 0; i < 3; ++i) queue.add(element(i));
  EXPECT_EQ(queue.held(), 3U);
  EXPECT_EQ(drain(queue), Indexes{});
  queue.release(1);
  EXPECT_EQ(queue.ready(), 2U);
  EXPECT_EQ(drain(queue), (Indexes{0, 1}));
  EXPECT_EQ(queue.held(), 1U);
  queue.release();
  EXPECT_EQ(drain(queue), Indexes{2});
  EXPECT_TRUE(queue.empty());
}

TEST(ElementQueue, a_small_span_takes_some) {
  ElementQueue queue;
  for (TraceIndex i = 0; i < 5; ++i) queue.add(element(i));
  queue.release(1);
  std::array<Element, 3> out;
  EXPECT_EQ(queue.drain(out), 3U);
  EXPECT_EQ(queue.waiting().size(), 2U);
  EXPECT_EQ(queue.waiting()[0].index, 3U);
  EXPECT_EQ(drain(queue, 1), Indexes{3});
}

TEST(ElementQueue, held_elements_are_dropped) {
  ElementQueue queue;
  for (TraceIndex i = 0; i < 4; ++i) queue.add(element(i));
  queue.release(3);
  queue.drop(1);
  queue.drop_held();
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(drain(queue), Indexes{0});
}

TEST(ElementQueue, held_elements_are_erased_by_kind) {
  ElementQueue queue;
  queue.add(element(0));
  queue.release();
  queue.add(element(1));
  queue.add(element(2, ElementKind::kExceptionReturn));
  queue.add(element(3));
  queue.erase_held(ElementKind::kExceptionReturn, queue.ready());
  EXPECT_EQ(queue.held(), 2U);
  queue.erase_held();
  queue.release();
  EXPECT_EQ(drain(queue), (Indexes{0, 3}));
}

TEST(ElementQueue, held_elements_move_to_a_span_and_back) {
  ElementQueue queue;
  queue.add(element(1));
  queue.add(element(2));
  std::array<Element, 4> span;
  queue.to_tail(span.data());
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.tail_count(), 2U);
  EXPECT_EQ(span[1].index, 2U);
  queue.stash_tail();
  EXPECT_EQ(queue.tail_count(), 0U);
  EXPECT_EQ(queue.held(), 2U);
  EXPECT_EQ(queue[0].index, 1U);
}

TEST(ElementQueue, a_tail_that_was_given_does_not_come_back) {
  ElementQueue queue;
  queue.add(element(1));
  std::array<Element, 1> span;
  queue.to_tail(span.data());
  queue.give_tail();
  queue.stash_tail();
  EXPECT_TRUE(queue.empty());
}

TEST(ElementQueue, another_queue_has_what_is_still_to_give) {
  ElementQueue queue;
  for (TraceIndex i = 0; i < 4; ++i) queue.add(element(i));
  queue.release(1);
  std::array<Element, 1> out;
  queue.drain(out);
  ElementQueue other;
  other.add(element(9));
  other.restore(queue);
  EXPECT_EQ(other.held(), 1U);
  EXPECT_EQ(drain(other), (Indexes{1, 2}));
}

TEST(ElementQueue, nothing_is_left_after_a_reset) {
  ElementQueue queue;
  queue.add(element(0));
  queue.add(element(1));
  queue.release(1);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.ready(), 0U);
  EXPECT_EQ(queue.held(), 0U);
}

}  // namespace
}  // namespace waymark::etmv3
