// Counts as text, JSON and CSV; they state what is unknown or incomplete.
#include "waymark/outputs/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace waymark::outputs {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

count::Counts two_blocks() {
  count::Counts counts;
  counts.rows.push_back({.range = {.start = 0x1000, .end = 0x1008, .count = 2}, .executed = 3});
  counts.rows.push_back(
      {.range = {.start = 0x2000, .end = 0x2004, .count = 1}, .executed = 1, .cycles = 7});
  return counts;
}

template <class... Arguments>
std::string counts_json(const Arguments&... arguments) {
  TextBuffer out;
  write_json(out, arguments...);
  return std::string(out.view());
}
template <class... Arguments>
std::string counts_csv(const Arguments&... arguments) {
  TextBuffer out;
  write_csv(out, arguments...);
  return std::string(out.view());
}

TEST(CountsOutput, cycles_are_text_or_null) {
  const count::Counts counts = two_blocks();
  EXPECT_TRUE(counts.has_cycles());
  EXPECT_FALSE(count::Counts{}.has_cycles());
  const std::span<const count::Row> rows(counts.rows);
  EXPECT_THAT(counts_json(counts, TraceId{0x10}, CountFacts{}),
              HasSubstr(R"("cycles":7,"other_cycles":0)"));
  EXPECT_THAT(counts_json(rows, CountFacts{}), HasSubstr(R"("cycles":0)"));
  const CountFacts none{.cycles = false};
  EXPECT_THAT(counts_json(counts, TraceId{0x10}, none),
              HasSubstr(R"("cycles":null,"other_cycles":null)"));
  EXPECT_THAT(counts_json(rows, none), Not(HasSubstr(R"("cycles":0)")));
  TextBuffer text;
  write_text(text, counts, none);
  EXPECT_THAT(std::string(text.view()), HasSubstr("not traced"));
}

TEST(CountsOutput, counts_that_are_not_complete_say_so) {
  const count::Counts counts = two_blocks();
  const std::span<const count::Row> rows(counts.rows);
  EXPECT_THAT(counts_json(counts, TraceId{0x10}, CountFacts{}), HasSubstr(R"("complete":true)"));
  EXPECT_THAT(counts_csv(rows, CountFacts{}), EndsWith(",1\n"));
  const CountFacts part{.complete = false};
  EXPECT_THAT(counts_json(counts, TraceId{0x10}, part), HasSubstr(R"("complete":false)"));
  EXPECT_THAT(counts_csv(rows, part), EndsWith(",0\n"));
  const count::FunctionRow function;
  EXPECT_THAT(counts_csv(std::span(&function, 1), part), EndsWith(",0\n"));
  const count::Branch branch;
  EXPECT_THAT(counts_csv(std::span(&branch, 1), part), EndsWith(",0\n"));
  count::ItmCounts itm;
  itm.local_timestamps = 1;
  EXPECT_THAT(counts_csv(itm, TraceId{0}, SampleOptions{}, part), EndsWith(",0\n"));
}

}  // namespace
}  // namespace waymark::outputs
