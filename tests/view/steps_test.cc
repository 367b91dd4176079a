#include "../../src/view/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../../src/view/places.h"
#include "sample.h"
#include "support/seed_count.h"

namespace waymark::view {
namespace {

class Steps : public ::testing::Test {
 protected:
  Sample sample;

  PlaceAnswer step(std::uint64_t n, StepKind kind, bool back = false, std::uint32_t count = 1) {
    auto answer = step_from(*sample.replay, {sample.source, n},
                            {.kind = kind, .back = back, .count = count}, sample.knowledge, kGoOn);
    if (!answer) {
      ADD_FAILURE() << answer.error().detail;
      return {};
    }
    return *std::move(answer);
  }
  /// Without inlined functions.
  [[nodiscard]] std::size_t frames(const PlaceAnswer& answer) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(answer.stack, [&](const StackEntry& entry) {
          return sample.functions.code(entry.function).kind != stacks::CodeKind::kInlined;
        }));
  }
  PlaceAnswer at(std::uint64_t n) {
    auto answer = place_of(*sample.replay, {sample.source, n}, sample.knowledge, kGoOn);
    return answer ? *std::move(answer) : PlaceAnswer();
  }
  /// All places, in parts.
  std::vector<Place> all(std::uint64_t count) {
    std::vector<Place> places;
    for (std::uint64_t n = 0; n < count; n += 500) {
      auto part =
          places_around(*sample.replay, {sample.source, n}, 0, 499, sample.knowledge, kGoOn);
      if (!part) break;
      places.insert(places.end(), part->places.begin(), part->places.end());
    }
    return places;
  }
};

TEST_F(Steps, by_instruction) {
  EXPECT_EQ(step(100, StepKind::kInstruction).place.instant.n, 101U);
  EXPECT_EQ(step(100, StepKind::kInstruction, true).place.instant.n, 99U);
  EXPECT_EQ(step(100, StepKind::kInstruction, false, 5000).place.instant.n, 5100U);
  EXPECT_EQ(step(5100, StepKind::kInstruction, true, 5000).place.instant.n, 100U);
  const PlaceAnswer first = step(0, StepKind::kInstruction, true);
  EXPECT_FALSE(first.moved);
  EXPECT_EQ(first.reason, "This is the first instruction.");
  const std::uint64_t last = sample.replay->total(sample.source) - 1;
  const PlaceAnswer end = step(last, StepKind::kInstruction);
  EXPECT_FALSE(end.moved);
  EXPECT_EQ(end.reason, "This is the last instruction.");
  EXPECT_EQ(end.place.instant.n, last);
  const PlaceAnswer beyond = step(last - 3, StepKind::kInstruction, false, 10);
  EXPECT_TRUE(beyond.moved);
  EXPECT_EQ(beyond.place.instant.n, last);
}

TEST_F(Steps, of_each_kind_back_leads_to_where_it_began) {
  for (const StepKind kind : {StepKind::kInstruction, StepKind::kLine, StepKind::kInto,
                              StepKind::kSameLine, StepKind::kException}) {
    std::uint64_t n = 300;
    // At a place of the kind.
    n = step(n, kind).place.instant.n;
    const std::uint64_t start = n;
    for (const std::uint32_t count : {1U, 3U, 7U}) {
      const PlaceAnswer there = step(start, kind, false, count);
      if (!there.reason.empty()) continue;
      EXPECT_GT(there.place.instant.n, start);
      EXPECT_EQ(step(there.place.instant.n, kind, true, count).place.instant.n, start)
          << static_cast<int>(kind) << " " << count;
    }
    // One after the other.
    for (int i = 0; i < 10; ++i) n = step(n, kind).place.instant.n;
    EXPECT_EQ(step(start, kind, false, 10).place.instant.n, n) << static_cast<int>(kind);
    const PlaceAnswer there = step(start, kind, false, 10);
    for (int i = 0; i < 10 && there.reason.empty(); ++i) n = step(n, kind, true).place.instant.n;
    if (there.reason.empty()) {
      EXPECT_EQ(n, start) << static_cast<int>(kind);
    }
  }
}

TEST_F(Steps, by_line_stops_at_each_change) {
  const std::vector<Place> places = all(3000);
  std::string last = places[0].file + ":" + std::to_string(places[0].line);
  std::uint64_t n = 0;
  std::size_t checked = 0;
  for (std::size_t i = 1; i < places.size() && checked < 60; ++i) {
    if (places[i].line == 0) continue;
    const std::string line = places[i].file + ":" + std::to_string(places[i].line);
    if (line == last) continue;
    last = line;
    n = step(n, StepKind::kLine).place.instant.n;
    ASSERT_EQ(n, i);
    ++checked;
  }
  EXPECT_EQ(checked, 60U);
}

/// BL of A64, whether or not there is a disassembler.
bool is_call(const Place& place) {
  return place.isa == "A64" && place.bytes.size() == 8 &&
         (std::stoul(place.bytes.substr(6), nullptr, 16) & 0xFC) == 0x94;
}

TEST_F(Steps, over_a_call_and_back) {
  const std::vector<Place> places = all(3000);
  std::size_t calls = 0;
  for (std::size_t i = 0; i + 1 < places.size() && calls < 10; ++i) {
    if (!is_call(places[i])) continue;
    const PlaceAnswer over = step(i, StepKind::kOver);
    if (!over.moved) continue;
    ++calls;
    EXPECT_EQ(over.place.address, places[i].address + 4) << i;
    EXPECT_EQ(frames(over), frames(at(i)));
    EXPECT_EQ(step(over.place.instant.n, StepKind::kOver, true).place.instant.n, i);
    const PlaceAnswer into = step(i, StepKind::kInto);
    EXPECT_EQ(into.place.instant.n, i + 1);
    EXPECT_EQ(frames(into), frames(at(i)) + 1);
    const auto called = std::ranges::find_if(
        into.stack, [&](const StackEntry& entry) { return entry.function == into.place.function; });
    ASSERT_NE(called, into.stack.end());
    EXPECT_EQ(called->call_address, places[i].address);
    const PlaceAnswer out = step(into.place.instant.n, StepKind::kOut);
    EXPECT_EQ(out.place.instant.n, over.place.instant.n);
    EXPECT_EQ(step(into.place.instant.n, StepKind::kOut, true).place.instant.n, i);
  }
  EXPECT_GT(calls, 3U);
}

TEST_F(Steps, out_of_the_outermost_function_is_not_possible) {
  const PlaceAnswer out = step(0, StepKind::kOut);
  EXPECT_FALSE(out.moved);
  EXPECT_FALSE(out.reason.empty());
}

TEST_F(Steps, same_line_is_another_execution) {
  const std::vector<Place> places = all(10000);
  // A line that is executed repeatedly.
  std::map<std::uint32_t, std::size_t> times;
  for (const Place& place : places) ++times[place.line];
  std::uint32_t line = 0;
  std::size_t most = 0;
  for (const auto& [number, count] : times)
    if (number != 0 && count > most) std::tie(line, most) = std::pair(number, count);
  std::uint64_t n = 0;
  while (places[n].line != line) ++n;
  for (int i = 0; i < 20; ++i) {
    const PlaceAnswer next = step(n, StepKind::kSameLine);
    ASSERT_TRUE(next.moved);
    EXPECT_EQ(next.place.line, line);
    EXPECT_EQ(step(next.place.instant.n, StepKind::kSameLine, true).place.instant.n, n);
    n = next.place.instant.n;
  }
  // In the middle of an execution, its own start is not the previous one.
  if (places[n + 1].line == line) {
    const std::uint64_t before = step(n, StepKind::kSameLine, true).place.instant.n;
    EXPECT_EQ(step(n + 1, StepKind::kSameLine, true).place.instant.n, before);
  }
}

TEST_F(Steps, exceptions) {
  const PlaceAnswer first = step(0, StepKind::kException);
  ASSERT_TRUE(first.moved);
  EXPECT_TRUE(first.place.event.contains("exception")) << first.place.event;
  const PlaceAnswer none = step(first.place.instant.n, StepKind::kException, true);
  EXPECT_FALSE(none.moved);
  EXPECT_EQ(none.reason, "No exception is before this instruction.");
}

TEST_F(Steps, messages_that_are_not_there) {
  const PlaceAnswer none = step(5, StepKind::kMessage);
  EXPECT_FALSE(none.moved);
  EXPECT_EQ(none.reason, "There are no messages in this trace.");
}

TEST_F(Steps, to_messages) {
  const std::vector<double> times{2000.0, 2000.5, 9000.0, 100001.0};
  sample.knowledge.messages = [&](double from, double to, const Stop&) -> Result<MessagesFound> {
    MessagesFound found;
    for (const double at : times) {
      if (at < from || at > to) continue;
      // In parts, as a search that stops.
      if (found.messages.size() == 1) {
        found.searched_to = found.messages.back().at;
        return found;
      }
      found.messages.push_back({.at = at, .text = "hello"});
    }
    found.complete = true;
    found.searched_to = to;
    return found;
  };
  EXPECT_EQ(step(5, StepKind::kMessage).place.instant.n, 800U);
  EXPECT_EQ(step(800, StepKind::kMessage).place.instant.n, 3600U);
  EXPECT_EQ(step(5, StepKind::kMessage, false, 3).place.instant.n, 40000U);
  EXPECT_EQ(step(40000, StepKind::kMessage, true).place.instant.n, 3600U);
  EXPECT_EQ(step(3600, StepKind::kMessage, true).place.instant.n, 800U);
  EXPECT_FALSE(step(800, StepKind::kMessage, true).moved);
  EXPECT_FALSE(step(40000, StepKind::kMessage).moved);
}

TEST_F(Steps, are_bounded) {
  sample.knowledge.limits.search_bytes = 16;
  const PlaceAnswer none = step(44000, StepKind::kInto, true, 5000);
  EXPECT_EQ(none.reason, "None was found within 16 bytes of trace, the limit of a step.");
}

TEST_F(Steps, stop) {
  const auto answer = step_from(*sample.replay, {sample.source, 5}, {.kind = StepKind::kLine},
                                sample.knowledge, [] { return true; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kLimit);
}

TEST_F(Steps, from_nowhere) {
  for (const Instant from : {Instant{sample.source, 1U << 30}, Instant{7, 0}}) {
    for (const StepKind kind : {StepKind::kInstruction, StepKind::kLine, StepKind::kMessage}) {
      const auto answer = step_from(*sample.replay, from, {.kind = kind}, sample.knowledge, kGoOn);
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
    }
  }
}

TEST(StepsEverywhere, do_not_depend_on_keyframes) {
  Sample near(20);
  Sample far(100000);
  constexpr std::uint64_t kFirst = 200;
  constexpr std::uint64_t kEnd = 44000;
  const std::uint64_t distance = (kEnd - kFirst) / support::seed_count(12) + 1;
  for (const StepKind kind : {StepKind::kLine, StepKind::kInto, StepKind::kSameLine,
                              StepKind::kOver, StepKind::kOut, StepKind::kException}) {
    for (std::uint64_t n = kFirst; n < kEnd; n += distance) {
      for (const bool back : {false, true}) {
        const Step step{.kind = kind, .back = back, .count = 2};
        const auto a = step_from(*near.replay, {near.source, n}, step, near.knowledge, kGoOn);
        const auto b = step_from(*far.replay, {far.source, n}, step, far.knowledge, kGoOn);
        ASSERT_TRUE(a && b);
        EXPECT_EQ(a->place.instant.n, b->place.instant.n)
            << static_cast<int>(kind) << " " << n << " " << back;
      }
    }
  }
}

}  // namespace
}  // namespace waymark::view
