#include "../../src/view/call_questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "sample.h"

namespace waymark::view {
namespace {

class CallQuestions : public ::testing::Test {
 protected:
  Sample sample{30};

  WindowCalls calls(const Window& window) const {
    auto made = calls_of(*sample.replay, window, sample.knowledge, kGoOn);
    if (!made) {
      ADD_FAILURE() << made.error().detail;
      return {};
    }
    return *std::move(made);
  }
  Window instructions(std::uint64_t from, std::uint64_t to) {
    return {.from = static_cast<double>(from) * FakeReplay::kScale,
            .to = static_cast<double>(to) * FakeReplay::kScale};
  }
};

using Lines = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

/// Instructions and calls by path.
Lines folded(const stacks::Tree& tree) {
  Lines lines;
  for (stacks::NodeId id = 1; id < tree.nodes().size(); ++id) {
    const stacks::Node& node = tree.node(id);
    if (node.instructions == 0 && node.calls == 0) continue;
    std::string path;
    for (stacks::NodeId at = id; at != stacks::kRootNode; at = tree.node(at).parent)
      path.insert(0, ";" + name_of(tree.code(tree.node(at).code)));
    lines[path].first += node.instructions;
    lines[path].second += node.calls;
  }
  return lines;
}

TEST_F(CallQuestions, the_whole_is_the_tree_of_an_engine) {
  stacks::Options options;
  options.places = sample.knowledge.places;
  options.exception_name = sample.knowledge.exception_name;
  stacks::Engine engine(options);
  engine.observe(sample.replay->elements());
  engine.finish();
  const WindowCalls whole = calls(sample.all());
  EXPECT_TRUE(whole.exact);
  EXPECT_EQ(folded(whole.tree), folded(engine.tree()));
  EXPECT_EQ(whole.tree.whole().instructions, 44901U);
  EXPECT_EQ(whole.exceptions, engine.quality().exceptions);
}

TEST_F(CallQuestions, parts_add_up_to_the_whole) {
  const WindowCalls whole = calls(sample.all());
  for (const std::uint64_t size : {44901U, 20000U, 3331U}) {
    stacks::Tree sum;
    std::uint64_t all_calls = 0;
    std::uint64_t exceptions = 0;
    std::uint64_t gaps = 0;
    for (std::uint64_t n = 0; n < 44901; n += size) {
      const bool last = n + size >= 44901;
      Window window = instructions(n, n + size);
      if (last) window.to = sample.replay->length();
      const WindowCalls part = calls(window);
      EXPECT_EQ(part.tree.whole().instructions, last ? 44901 - n : size);
      sum.add(part.tree);
      all_calls += part.calls;
      exceptions += part.exceptions;
      gaps += part.gaps;
    }
    EXPECT_EQ(folded(sum), folded(whole.tree)) << size;
    EXPECT_EQ(all_calls, whole.calls);
    EXPECT_EQ(exceptions, whole.exceptions);
    EXPECT_EQ(gaps, whole.gaps);
  }
}

TEST_F(CallQuestions, recursion_counts_once_in_totals) {
  const Functions functions = functions_of(calls(sample.all()), 200, sample.knowledge);
  EXPECT_EQ(functions.instructions, 44901U);
  std::uint64_t self = 0;
  std::map<std::string, FunctionRow> rows;
  for (const FunctionRow& row : functions.rows) {
    self += row.self;
    EXPECT_LE(row.self, row.total);
    EXPECT_LE(row.total, functions.instructions);
    rows[sample.name(row.function)] = row;
  }
  EXPECT_EQ(self, functions.instructions);
  EXPECT_TRUE(std::ranges::is_sorted(functions.rows, std::greater(), &FunctionRow::self));
  // Only it executes below itself.
  EXPECT_GT(rows["fibonacci"].calls, 100U);
  EXPECT_EQ(rows["fibonacci"].self, rows["fibonacci"].total);
  EXPECT_EQ(functions_of(calls(sample.all()), 3, sample.knowledge).rows.size(), 3U);
}

TEST_F(CallQuestions, neighbours) {
  const WindowCalls whole = calls(sample.all());
  const Functions functions = functions_of(whole, 200, sample.knowledge);
  const FunctionNumber fibonacci = sample.number("fibonacci");
  const auto around = neighbours_of(whole, fibonacci, sample.knowledge);
  ASSERT_TRUE(around);
  std::map<std::string, CallRow> callers;
  for (const CallRow& row : around->callers) callers[sample.name(row.function)] = row;
  ASSERT_TRUE(callers.contains("fibonacci"));
  ASSERT_EQ(callers.size(), 2U);
  std::uint64_t all_calls = 0;
  for (const auto& [name, row] : callers) all_calls += row.calls;
  const auto row = std::ranges::find(functions.rows, fibonacci, &FunctionRow::function);
  ASSERT_NE(row, functions.rows.end());
  EXPECT_EQ(all_calls, row->calls);
  ASSERT_EQ(around->callees.size(), 1U);
  EXPECT_EQ(around->callees[0].function, fibonacci);
  // It only calls itself, so all instructions are its own.
  EXPECT_EQ(around->callees[0].instructions, 0U);
  EXPECT_GT(around->callees[0].calls, 100U);
  std::uint64_t all_instructions = 0;
  for (const auto& [name, each] : callers) all_instructions += each.instructions;
  EXPECT_EQ(all_instructions, row->total);
  EXPECT_EQ(callers["fibonacci"].instructions, 0U);
  const auto unknown = neighbours_of(whole, 123456, sample.knowledge);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_F(CallQuestions, flames_are_trees) {
  const WindowCalls whole = calls(sample.all());
  for (const std::uint32_t limit : {4000U, 10U, 1U, 0U}) {
    const Flame flame = flame_of(whole, limit, sample.knowledge);
    ASSERT_GE(flame.nodes.size(), 1U);
    EXPECT_LE(flame.nodes.size(), std::max(limit, 1U));
    EXPECT_EQ(flame.nodes[0].total, 44901U);
    std::vector<std::uint64_t> below(flame.nodes.size());
    for (std::size_t i = 1; i < flame.nodes.size(); ++i) {
      ASSERT_LT(flame.nodes[i].parent, i);
      below[flame.nodes[i].parent] += flame.nodes[i].total;
    }
    for (std::size_t i = 0; i < flame.nodes.size(); ++i)
      EXPECT_LE(below[i] + flame.nodes[i].self, flame.nodes[i].total);
  }
}

TEST_F(CallQuestions, measure) {
  const Measure measure = measure_of(calls(sample.all()));
  EXPECT_EQ(measure.instructions, 44901U);
  EXPECT_GT(measure.calls, 100U);
  EXPECT_GT(measure.exceptions, 0U);
  EXPECT_GT(measure.functions, 5U);
  EXPECT_FALSE(measure.has_cycles);
  const Measure none = measure_of(calls(instructions(1000, 1000)));
  EXPECT_TRUE(none.exact);
  EXPECT_EQ(none.instructions, 0U);
  EXPECT_EQ(none.functions, 0U);
  EXPECT_EQ(measure_of(calls(instructions(1000, 1001))).instructions, 1U);
}

TEST_F(CallQuestions, windows_outside_the_axis) {
  const double length = sample.replay->length();
  EXPECT_EQ(calls({.from = length + 1, .to = length + 9}).tree.whole().instructions, 0U);
  EXPECT_EQ(calls({.from = -9, .to = -1}).tree.whole().instructions, 0U);
  EXPECT_EQ(calls({.from = -1e300, .to = 1e300}).tree.whole().instructions, 44901U);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Window& window :
       {Window{.from = 5, .to = 4}, Window{.from = nan, .to = 4}, Window{.from = 4, .to = nan},
        Window{.from = 4, .to = std::numeric_limits<double>::infinity()}}) {
    const auto bad = calls_of(*sample.replay, window, sample.knowledge, kGoOn);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(CallQuestions, tracks_select) {
  Window window = sample.all();
  window.tracks = {1};
  EXPECT_EQ(calls(window).tree.whole().instructions, 44901U);
  window.tracks = {9};
  EXPECT_EQ(calls(window).tree.whole().instructions, 0U);
}

TEST_F(CallQuestions, large_windows_are_sampled) {
  sample.knowledge.limits.window_bytes = 3000;
  const WindowCalls part = calls(sample.all());
  EXPECT_FALSE(part.exact);
  EXPECT_GT(part.tree.whole().instructions, 3000U);
  EXPECT_LT(part.tree.whole().instructions, 44901U);
  EXPECT_FALSE(functions_of(part, 9, sample.knowledge).exact);
  sample.knowledge.limits.window_bytes = 1 << 20;
}

TEST_F(CallQuestions, stop) {
  const auto none = calls_of(*sample.replay, sample.all(), sample.knowledge, [] { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace waymark::view
