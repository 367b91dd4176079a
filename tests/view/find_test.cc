#include "../../src/view/find.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "../../src/view/call_questions.h"
#include "../../src/view/places.h"
#include "sample.h"

namespace waymark::view {
namespace {

class Find : public ::testing::Test {
 protected:
  Sample sample{40};

  Hits find(FindWhat what, const std::string& text, std::uint32_t limit = 10000) const {
    auto hits = find_hits(
        *sample.replay,
        {.what = what, .text = text, .from = 0, .to = sample.replay->length(), .limit = limit},
        sample.knowledge, kGoOn);
    if (!hits) {
      ADD_FAILURE() << hits.error().detail;
      return {};
    }
    return *std::move(hits);
  }
  Place at(const Hit& hit) const {
    const auto answer = place_of(*sample.replay, *hit.instant, sample.knowledge, kGoOn);
    return answer ? answer->place : Place();
  }
  /// All hits, in parts.
  std::vector<Hit> in_parts(FindWhat what, const std::string& text, std::uint32_t limit) const {
    std::vector<Hit> all;
    double from = 0;
    for (int i = 0; i < 10000; ++i) {
      auto hits = find_hits(
          *sample.replay,
          {.what = what, .text = text, .from = from, .to = sample.replay->length(), .limit = limit},
          sample.knowledge, kGoOn);
      if (!hits) break;
      EXPECT_LE(hits->hits.size(), limit);
      all.insert(all.end(), hits->hits.begin(), hits->hits.end());
      if (hits->complete) return all;
      EXPECT_GT(hits->searched_to, from);
      from = hits->searched_to;
    }
    ADD_FAILURE() << "the search does not end";
    return all;
  }
};

TEST_F(Find, functions_where_they_are_called) {
  const auto calls = calls_of(*sample.replay, sample.all(), sample.knowledge, kGoOn);
  ASSERT_TRUE(calls);
  const Functions functions = functions_of(*calls, 100, sample.knowledge);
  const Hits hits = find(FindWhat::kFunction, "FiBoNacci");
  EXPECT_TRUE(hits.complete);
  const auto row =
      std::ranges::find(functions.rows, sample.number("fibonacci"), &FunctionRow::function);
  ASSERT_NE(row, functions.rows.end());
  EXPECT_EQ(hits.hits.size(), row->calls);
  EXPECT_TRUE(std::ranges::is_sorted(hits.hits, {}, &Hit::at));
  for (std::size_t i = 0; i < hits.hits.size(); i += 50) {
    const Place place = at(hits.hits[i]);
    EXPECT_EQ(sample.name(place.function), "fibonacci");
    EXPECT_EQ(place.offset, 0U);
    EXPECT_EQ(place.at, hits.hits[i].at);
    EXPECT_EQ(hits.hits[i].text, "fibonacci");
  }
  EXPECT_TRUE(find(FindWhat::kFunction, "<script>alert(1)</script>").hits.empty());
  EXPECT_EQ(find(FindWhat::kFunction, "_start").hits.size(), 1U);
}

TEST_F(Find, parts_are_the_whole) {
  const Hits whole = find(FindWhat::kFunction, "fibonacci");
  for (const std::uint32_t limit : {7U, 100U}) {
    const std::vector<Hit> parts = in_parts(FindWhat::kFunction, "fibonacci", limit);
    ASSERT_EQ(parts.size(), whole.hits.size());
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].at, whole.hits[i].at);
  }
  // And if only little of the trace is searched at once.
  sample.knowledge.limits.search_bytes = 700;
  const std::vector<Hit> parts = in_parts(FindWhat::kFunction, "fibonacci", 1000);
  EXPECT_EQ(parts.size(), whole.hits.size());
}

TEST_F(Find, addresses) {
  const auto place = place_of(*sample.replay, {sample.source, 5000}, sample.knowledge, kGoOn);
  ASSERT_TRUE(place);
  std::uint64_t expected = 0;
  for (const Element& element : sample.replay->elements())
    if (element.kind == ElementKind::kInstrRange && element.start <= place->place.address &&
        place->place.address < element.end)
      ++expected;
  const std::string digits = fmt::format("{:x}", place->place.address);
  for (const std::string& text : {digits, "0x" + digits, "0X" + digits}) {
    const Hits hits = find(FindWhat::kAddress, text);
    ASSERT_EQ(hits.hits.size(), expected);
    EXPECT_EQ(at(hits.hits.front()).address, place->place.address);
    EXPECT_TRUE(std::ranges::any_of(hits.hits, [](const Hit& hit) {
      return hit.instant == Instant{hit.instant->source, 5000};
    }));
  }
  EXPECT_TRUE(find(FindWhat::kAddress, "0xdead0000").hits.empty());
}

TEST_F(Find, lines) {
  const auto place = place_of(*sample.replay, {sample.source, 5000}, sample.knowledge, kGoOn);
  ASSERT_TRUE(place);
  const std::string line = std::to_string(place->place.line);
  const Hits hits = find(FindWhat::kLine, "quicksort.c:" + line);
  ASSERT_FALSE(hits.hits.empty());
  for (std::size_t i = 0; i < hits.hits.size(); i += 1 + hits.hits.size() / 10)
    EXPECT_EQ(at(hits.hits[i]).line, place->place.line);
  EXPECT_TRUE(find(FindWhat::kLine, "sort.c:" + line).hits.empty());
  EXPECT_TRUE(find(FindWhat::kLine, "quicksort.c:99999").hits.empty());
}

TEST_F(Find, exceptions) {
  const auto count =
      std::ranges::count(sample.replay->elements(), ElementKind::kException, &Element::kind);
  ASSERT_FALSE(find(FindWhat::kException, "e").hits.empty());
  std::uint32_t number = 0;
  for (const Element& element : sample.replay->elements())
    if (element.kind == ElementKind::kException) number = element.number;
  const Hits hits = find(FindWhat::kException, std::to_string(number));
  EXPECT_FALSE(hits.hits.empty());
  EXPECT_LE(hits.hits.size(), static_cast<std::size_t>(count));
  for (const Hit& hit : hits.hits) EXPECT_TRUE(hit.text.starts_with("exception")) << hit.text;
  EXPECT_TRUE(find(FindWhat::kException, "9999").hits.empty());
}

TEST_F(Find, times) {
  const Hits hits = find(FindWhat::kTime, "2500.5");
  ASSERT_EQ(hits.hits.size(), 1U);
  EXPECT_EQ(hits.hits[0].at, 2500.5);
  ASSERT_TRUE(hits.hits[0].instant);
  EXPECT_EQ(hits.hits[0].instant->n, 1000U);
  sample.knowledge.axis = [this] {
    return Axis{.unit = AxisUnit::kTicks, .origin = 1000, .length = sample.replay->length()};
  };
  const Hits raw = find(FindWhat::kTime, "t:3500");
  ASSERT_EQ(raw.hits.size(), 1U);
  EXPECT_EQ(raw.hits[0].at, 2500);
  EXPECT_TRUE(find(FindWhat::kTime, "t:999").hits.empty());
  EXPECT_TRUE(find(FindWhat::kTime, "1e300").hits.empty());
}

TEST_F(Find, messages) {
  EXPECT_TRUE(find(FindWhat::kText, "x").hits.empty());
  sample.knowledge.messages = [](double from, double to, const Stop&) -> Result<MessagesFound> {
    MessagesFound found{.complete = true, .searched_to = to};
    for (const double at : {10.0, 20.0, 30.0})
      if (at >= from && at <= to)
        found.messages.push_back({.at = at, .track = 7, .text = at == 20 ? "Hello" : "other"});
    return found;
  };
  const Hits hits = find(FindWhat::kText, "hELL");
  ASSERT_EQ(hits.hits.size(), 1U);
  EXPECT_EQ(hits.hits[0].at, 20);
  EXPECT_EQ(hits.hits[0].track, 7U);
  EXPECT_FALSE(hits.hits[0].instant);
}

TEST_F(Find, bad_queries) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Query& query : {
           Query{.what = FindWhat::kFunction, .text = "", .from = 0, .to = 9},
           Query{.what = FindWhat::kAddress, .text = "main", .from = 0, .to = 9},
           Query{.what = FindWhat::kAddress, .text = "0x", .from = 0, .to = 9},
           Query{.what = FindWhat::kAddress, .text = "-1", .from = 0, .to = 9},
           Query{.what = FindWhat::kLine, .text = "main.c", .from = 0, .to = 9},
           Query{.what = FindWhat::kLine, .text = ":4", .from = 0, .to = 9},
           Query{.what = FindWhat::kLine, .text = "main.c:0", .from = 0, .to = 9},
           Query{.what = FindWhat::kTime, .text = "noon", .from = 0, .to = 9},
           Query{.what = FindWhat::kTime, .text = "t:-5", .from = 0, .to = 9},
           Query{.what = FindWhat::kTime, .text = "nan", .from = 0, .to = 9},
           Query{.what = FindWhat::kFunction, .text = "a", .from = 5, .to = 4},
           Query{.what = FindWhat::kFunction, .text = "a", .from = nan, .to = 4},
           Query{.what = FindWhat::kText, .text = "a", .from = 0, .to = nan},
       }) {
    const auto hits = find_hits(*sample.replay, query, sample.knowledge, kGoOn);
    ASSERT_FALSE(hits) << query.text;
    EXPECT_EQ(hits.error().code, ErrorCode::kInvalidArgument);
  }
  const auto outside =
      find_hits(*sample.replay, {.what = FindWhat::kFunction, .text = "a", .from = -9, .to = -1},
                sample.knowledge, kGoOn);
  ASSERT_TRUE(outside);
  EXPECT_TRUE(outside->complete);
  EXPECT_TRUE(outside->hits.empty());
}

}  // namespace
}  // namespace waymark::view
