#include "waymark/mismatch/summary.h"

#include <gtest/gtest.h>

namespace waymark::mismatch {
namespace {

FunctionRow row(std::string program, std::string function, std::uint64_t times = 1) {
  return {.program = std::move(program), .function = std::move(function), .times = times};
}

TEST(MismatchSummary, the_most_frequent_function_is_first) {
  FunctionRows rows;
  for (const char* const function : {"b", "a", "c", "b"}) rows.add(row("prog", function));
  FunctionRow switched = row("prog", "c");
  switched.switches = true;
  rows.add(switched);
  rows.add(row("prog", "c"));
  const auto sorted = rows.take();
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].function, "c");
  EXPECT_EQ(sorted[0].times, 3U);
  EXPECT_TRUE(sorted[0].switches);
  EXPECT_EQ(sorted[1].function, "b");
  EXPECT_EQ(sorted[2].function, "a");
  EXPECT_TRUE(rows.take().empty());
}

TEST(MismatchSummary, functions_of_one_name_in_two_programs_differ) {
  FunctionRows rows;
  rows.add(row("one", "main"));
  rows.add(row("two", "main"));
  EXPECT_EQ(rows.take().size(), 2U);
}

TEST(MismatchSummary, a_program_names_four_functions_and_counts_the_others) {
  const std::vector<FunctionRow> rows = {row("p", "a", 9), row("q", "x", 8), row("p", "b", 7),
                                         row("p", "", 6),  row("p", "c", 5), row("p", "d", 4),
                                         row("p", "e", 3), row("p", "f", 2)};
  const auto programs = by_program(rows);
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].program, "p");
  EXPECT_EQ(programs[0].times, 36U);
  ASSERT_EQ(programs[0].functions.size(), kMostNamed);
  EXPECT_EQ(programs[0].functions[1], (std::pair<std::string, std::uint64_t>("b", 7)));
  EXPECT_EQ(programs[0].functions[3].first, "d");
  EXPECT_EQ(programs[0].other_functions, 2U);
  EXPECT_EQ(programs[1].times, 8U);
}

TEST(MismatchSummary, the_first_place_is_the_one_that_comes_first_in_the_trace) {
  FunctionRows rows;
  const auto add = [&](std::string function, std::uint64_t address, TraceIndex index) {
    FunctionRow each = row("p", std::move(function));
    each.address = address;
    each.index = index;
    rows.add(std::move(each));
  };
  add("often", 0x104, 30);
  add("often", 0x108, 20);
  add("rare", 0x200, 10);
  const auto programs = by_program(rows.take());
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_EQ(programs[0].function, "rare");
  EXPECT_EQ(programs[0].address, 0x200U);
  EXPECT_EQ(programs[0].index, 10U);
  EXPECT_EQ(programs[0].functions[0].first, "often");
}

TEST(MismatchSummary, one_row_without_a_context_makes_the_process_doubtful) {
  std::vector<FunctionRow> rows = {row("p", "a"), row("p", "b"), row("q", "c")};
  rows[1].no_context = true;
  rows[1].build_id = "1a2b";
  const auto programs = by_program(rows);
  EXPECT_TRUE(programs[0].no_context);
  EXPECT_EQ(programs[0].build_id, "1a2b");
  EXPECT_FALSE(programs[1].no_context);
}

TEST(MismatchSummary, the_cause_depends_on_the_code) {
  std::vector<FunctionRow> rows = {row("p", "")};
  EXPECT_EQ(by_program(rows)[0].cause, Cause::kOtherFile);
  rows = {row("p", "a")};
  EXPECT_EQ(by_program(rows)[0].cause, Cause::kPatchedCode);
  rows[0].in_kernel = true;
  EXPECT_EQ(by_program(rows)[0].cause, Cause::kOtherKernel);
  rows.push_back(row("p", "b"));
  rows[1].switches = true;
  EXPECT_EQ(by_program(rows)[0].cause, Cause::kChangedCode);
  rows[0].in_kernel = false;
  EXPECT_EQ(by_program(rows)[0].cause, Cause::kOtherFile);
}

TEST(MismatchSummary, other_functions_that_are_as_suspect_are_named_once) {
  FunctionRows rows;
  FunctionRow later = row("p", "a");
  later.index = 20;
  later.suspects = {{.function = "later"}};
  rows.add(later);
  FunctionRow first = row("p", "a");
  first.index = 10;
  first.suspects = {{.function = "b"}, {.function = "a"}, {}, {.function = "c"}, {.function = "b"}};
  rows.add(first);
  rows.add(later);
  const auto programs = by_program(rows.take());
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_EQ(programs[0].suspects, (std::vector<std::string>{"b", "c"}));
}

}  // namespace
}  // namespace waymark::mismatch
