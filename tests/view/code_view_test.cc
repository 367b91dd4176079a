#include "../../src/view/code_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "../../src/view/call_questions.h"
#include "../../src/view/range_walk.h"
#include "sample.h"

namespace waymark::view {
namespace {

struct Times {
  std::uint64_t count = 0;
  std::uint64_t taken = 0;
  std::uint64_t not_taken = 0;
};

class CodeView : public ::testing::Test {
 protected:
  CodeView() {
    // Every function has its number.
    (void)functions_of(*calls_of(*sample.replay, sample.all(), sample.knowledge, kGoOn), 1,
                       sample.knowledge);
  }
  Code code(const std::string& name, const Window& window) {
    auto made = code_of(*sample.replay, sample.number(name), window, sample.knowledge, kGoOn);
    if (!made) {
      ADD_FAILURE() << made.error().detail;
      return {};
    }
    return *std::move(made);
  }
  /// The executed instructions at each address from one instruction up to another one.
  std::map<std::uint64_t, Times> executed(std::uint64_t from, std::uint64_t to) const {
    std::map<std::uint64_t, Times> times;
    for (std::size_t i = 0; i < sample.replay->elements().size(); ++i) {
      const Element& element = sample.replay->elements()[i];
      if (!is_range(element)) continue;
      for (std::uint32_t k = 0; k < element.count; ++k) {
        const std::uint64_t n = sample.replay->number(i) + k;
        if (n < from || n >= to) continue;
        Times& at = times[element.start + 4 * std::uint64_t{k}];
        ++at.count;
        if (k + 1 == element.count && (element.flags & kElementConditional) != 0)
          ++((element.flags & kElementExecuted) != 0 ? at.taken : at.not_taken);
      }
    }
    return times;
  }

  Sample sample{40};
};

TEST_F(CodeView, counts_are_those_of_the_window) {
  for (const auto& [from, to] : {std::pair<std::uint64_t, std::uint64_t>{0, 44901},
                                 {1000, 9000},
                                 {12345, 23456},
                                 {5000, 5001},
                                 {44000, 44901}}) {
    const Window window{
        .from = static_cast<double>(from) * FakeReplay::kScale,
        .to = to == 44901 ? sample.replay->length() : static_cast<double>(to) * FakeReplay::kScale};
    const auto expected = executed(from, to);
    for (const char* const name : {"quicksort", "fibonacci", "interpret.constprop.0", "run"}) {
      const Code shown = code(name, window);
      EXPECT_TRUE(shown.exact);
      ASSERT_FALSE(shown.instructions.empty()) << name;
      for (const CodeInstruction& each : shown.instructions) {
        const auto at = expected.find(each.address);
        const Times times = at == expected.end() ? Times() : at->second;
        EXPECT_EQ(each.count, times.count) << name << std::hex << " " << each.address;
        if (each.taken) {
          EXPECT_EQ(*each.taken, times.taken) << name << std::hex << " " << each.address;
          EXPECT_EQ(*each.not_taken, times.not_taken);
        } else {
          EXPECT_EQ(times.taken + times.not_taken, 0U);
        }
      }
      EXPECT_EQ(shown.executions, shown.instructions.front().count);
    }
  }
}

TEST_F(CodeView, conditional_branches_have_outcomes) {
  const Code shown = code("fibonacci", sample.all());
  std::size_t branches = 0;
  for (const CodeInstruction& each : shown.instructions) {
    EXPECT_EQ(each.bytes.size(), 8U);
    if (!each.taken) continue;
    ++branches;
    EXPECT_EQ(*each.taken + *each.not_taken, each.count);
  }
  EXPECT_GT(branches, 0U);
  EXPECT_LT(branches, shown.instructions.size() / 2);
}

TEST_F(CodeView, source_lines_have_text_and_counts) {
  const Code shown = code("fibonacci", sample.all());
  ASSERT_FALSE(shown.files.empty());
  EXPECT_TRUE(shown.files[0].ends_with("quicksort.c"));
  ASSERT_FALSE(shown.lines.empty());
  EXPECT_EQ(shown.lines[0].number, 1U);
  std::uint64_t most = 0;
  for (const CodeLine& line : shown.lines) {
    ASSERT_TRUE(line.text);
    most = std::max(most, line.count);
    EXPECT_TRUE(line.count == 0 || !line.text->empty());
  }
  EXPECT_GE(most, shown.executions);
  const auto line = std::ranges::find_if(
      shown.lines, [](const CodeLine& each) { return each.text->contains("fibonacci("); });
  ASSERT_NE(line, shown.lines.end());
}

TEST_F(CodeView, a_missing_source_file_is_reported) {
  sample.knowledge.source_places = {"/nothing=/nowhere"};
  const Code shown = code("fibonacci", sample.all());
  if (!shown.lines.empty() && !shown.lines[0].text) {
    EXPECT_TRUE(shown.note.contains("was not found")) << shown.note;
  }
}

TEST_F(CodeView, around_an_instruction) {
  const auto shown =
      code_around(*sample.replay, {sample.source, 5000}, sample.all(), sample.knowledge, kGoOn);
  ASSERT_TRUE(shown) << shown.error().detail;
  EXPECT_NE(shown->function, FunctionTable::kUnknown);
  const Code same = code(sample.name(shown->function), sample.all());
  EXPECT_EQ(same.instructions.size(), shown->instructions.size());
  const auto none =
      code_around(*sample.replay, {sample.source, 1U << 30}, sample.all(), sample.knowledge, kGoOn);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(CodeView, without_names_shows_what_is_around) {
  sample.knowledge.places = {};
  const auto shown =
      code_around(*sample.replay, {sample.source, 5000}, sample.all(), sample.knowledge, kGoOn);
  ASSERT_TRUE(shown) << shown.error().detail;
  EXPECT_FALSE(shown->note.empty());
  ASSERT_FALSE(shown->instructions.empty());
  const auto expected = executed(0, 44901);
  for (const CodeInstruction& each : shown->instructions) {
    const auto at = expected.find(each.address);
    EXPECT_EQ(each.count, at == expected.end() ? 0 : at->second.count);
  }
}

TEST_F(CodeView, functions_that_are_none) {
  const auto unknown = code_of(*sample.replay, 1U << 20, sample.all(), sample.knowledge, kGoOn);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const auto nothing =
      code_of(*sample.replay, FunctionTable::kUnknown, sample.all(), sample.knowledge, kGoOn);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->instructions.empty());
  EXPECT_FALSE(nothing->note.empty());
  const FunctionNumber elsewhere = sample.functions.number(
      stacks::Code{.kind = stacks::CodeKind::kFunction, .name = "f", .program = "/not/there"});
  const auto missing = code_of(*sample.replay, elsewhere, sample.all(), sample.knowledge, kGoOn);
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->note.empty());
}

TEST_F(CodeView, large_windows_are_sampled) {
  sample.knowledge.limits.window_bytes = 3000;
  const Code shown = code("quicksort", sample.all());
  EXPECT_FALSE(shown.exact);
}

}  // namespace
}  // namespace waymark::view
