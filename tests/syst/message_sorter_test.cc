#include "waymark/syst/message_sorter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support.h"
#include "support/random.h"

namespace waymark::syst {
namespace {

using testing::ElementsAre;

std::vector<std::string> finish(MessageSorter& sorter) {
  std::vector<std::string> texts;
  const auto done = sorter.finish([&](std::string_view text) {
    texts.emplace_back(text);
    return true;
  });
  EXPECT_TRUE(done.has_value()) << done.error().detail;
  return texts;
}

TEST(SystMessageSorter, equal_times_keep_their_order) {
  MessageSorter sorter;
  for (const auto& [time, text] : {std::pair(5, "a"), std::pair(3, "b"), std::pair(5, "c"),
                                   std::pair(3, ""), std::pair(4, "d")})
    ASSERT_TRUE(sorter.add(static_cast<std::uint64_t>(time), text));
  EXPECT_THAT(finish(sorter), ElementsAre("b", "", "d", "a", "c"));
  EXPECT_THAT(finish(sorter), ElementsAre()) << "it is empty afterwards";
}

TEST(SystMessageSorter, more_than_memory_holds_goes_through_a_file) {
  for (const std::size_t memory : {1U, 500U, 20000U}) {
    support::Random random(memory);
    MessageSorter sorter(memory, testing::TempDir());
    std::vector<std::pair<std::uint64_t, std::string>> expected;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t time = random.below(500);
      const std::string text =
          std::to_string(i) + std::string(random.one_in(500) ? 30000 : random.below(40), 'x');
      ASSERT_TRUE(sorter.add(time, text));
      expected.emplace_back(time, text);
    }
    EXPECT_GT(sorter.spilled(), 0U);
    std::ranges::stable_sort(expected, {}, &std::pair<std::uint64_t, std::string>::first);
    const std::vector<std::string> texts = finish(sorter);
    ASSERT_EQ(texts.size(), expected.size());
    for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(texts[i], expected[i].second) << i;
    EXPECT_EQ(sorter.spilled(), 0U);
  }
}

TEST(SystMessageSorter, stops_when_the_consumer_does) {
  for (const std::size_t memory : {std::size_t{64}, MessageSorter::kMemory}) {
    MessageSorter sorter(memory, testing::TempDir());
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(sorter.add(100 - i, "text"));
    unsigned taken = 0;
    EXPECT_TRUE(sorter.finish([&](std::string_view) { return ++taken < 3; }));
    EXPECT_EQ(taken, 3U);
  }
}

TEST(SystMessageSorter, a_folder_that_cannot_be_written_is_named) {
  MessageSorter sorter(1, "/nonexistent/folder");
  ASSERT_TRUE(sorter.add(1, "one"));
  const auto done = sorter.add(2, "two");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_NE(done.error().detail.find("/nonexistent/folder"), std::string::npos);
  EXPECT_NE(done.error().detail.find("TMPDIR"), std::string::npos);
}

/// A record of the transport at `index`, with or without a time.
Record of_transport(TraceIndex index, std::optional<std::uint64_t> time, TraceId id = 0x10) {
  Record record;
  record.frame.index = index;
  record.frame.trace_id = id;
  record.frame.has_master = true;
  record.frame.channel = 1;
  record.time = time;
  return record;
}

TEST(SystMessageOrder, times_that_run_backwards_are_counted) {
  MessageOrder order;
  EXPECT_EQ(order.add(of_transport(1, 100)), 100U);
  EXPECT_EQ(order.add(of_transport(2, 100)), 100U);
  EXPECT_EQ(order.backwards(), 0U);
  EXPECT_FALSE(order.first_backwards());
  EXPECT_EQ(order.add(of_transport(3, 90, 0x11)), 90U);
  EXPECT_EQ(order.add(of_transport(4, 95)), 95U);
  EXPECT_EQ(order.add(of_transport(5, 101)), 101U);
  EXPECT_EQ(order.backwards(), 2U);
  EXPECT_EQ(order.first_backwards(), 3U);
}

TEST(SystMessageOrder, what_has_no_time_stays_after_the_message_before_it) {
  MessageOrder order;
  EXPECT_EQ(order.add(of_transport(0, std::nullopt)), 0U);
  EXPECT_EQ(order.add(of_transport(1, 100)), 100U);
  EXPECT_EQ(order.add(of_transport(2, 50, 0x11)), 50U);
  EXPECT_EQ(order.add(of_transport(3, std::nullopt)), 100U);
  EXPECT_EQ(order.add(of_transport(4, std::nullopt, 0x11)), 50U);
  Record partial = of_transport(5, 7);
  partial.frame.time_is_partial = true;
  EXPECT_EQ(order.add(partial), 100U);
  EXPECT_EQ(order.backwards(), 1U) << "only that of index 2";
  // Nanoseconds of a sender's clock are not ticks of the transport.
  Record other = of_transport(6, std::nullopt);
  other.nanoseconds = 1;
  EXPECT_EQ(order.add(other), 100U);
}

TEST(SystMessageOrder, without_a_transport_the_clock_of_the_sender_counts) {
  Record record;
  const auto bytes =
      hex("42584101"
          "0500000000000000"
          "6100");
  record.message = parse_message(bytes);
  ASSERT_TRUE(record.message.ok());
  MessageOrder order;
  EXPECT_EQ(order.add(record), 5U);
  record.nanoseconds = 5000;
  EXPECT_EQ(order.add(record), 5U) << "the same clock, of which a CLOCK message told the frequency";
}

}  // namespace
}  // namespace waymark::syst
