// Counts by function: which blocks belong to a function, and what counts as a call.
#include "waymark/count/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace waymark::count {
namespace {

class Functions : public testing::Test {
 protected:
  void SetUp() override {
    symbols.add({{.start = kPut, .last = kPut + 0x7F, .name = "put"},
                 {.start = kRun, .last = kRun + 0xFF, .name = "run"}});
  }
  /// Two instructions; the second branches to `target`.
  static Row row(std::uint64_t start, std::uint64_t times, std::uint64_t target, bool link) {
    return {
        .range = {.start = start,
                  .end = start + 8,
                  .count = 2,
                  .isa = isa::Isa::kA64,
                  .last_type = isa::InstrType::kBranch,
                  .last_subtype = link ? isa::InstrSubtype::kBranchLink : isa::InstrSubtype::kNone,
                  .last_size = 4},
        .executed = times,
        .target = target};
  }
  [[nodiscard]] const FunctionRow* of(const std::vector<FunctionRow>& rows,
                                      std::string_view name) const {
    const auto at = std::ranges::find_if(rows, [&](const FunctionRow& it) {
      return it.function == nullptr ? name.empty() : it.function->name == name;
    });
    return at == rows.end() ? nullptr : &*at;
  }

  /// The shares of a row as name:instructions:cycles.
  [[nodiscard]] std::string shares(const Row& row, const ReadHalfword& read = {}) const {
    std::string all;
    each_share(
        row, [this](std::uint64_t address) { return function_at(symbols.functions(), address); },
        read,
        [&all](const FunctionShare& share) {
          all += share.at.function == nullptr ? "-" : share.at.function->name;
          all +=
              ":" + std::to_string(share.instructions) + ":" + std::to_string(share.cycles) + " ";
        });
    return all;
  }

  static constexpr std::uint64_t kPut = 0x40'0104;
  static constexpr std::uint64_t kRun = 0x40'0504;
  image::Symbols symbols;
};

TEST_F(Functions, instructions_belong_to_their_functions) {
  Counts counts;
  counts.rows = {row(kPut, 3, kPut + 16, false), row(kPut + 16, 2, kRun, true),
                 row(kRun, 5, 0x10, true), row(0x10, 7, kNoAddress, false)};
  counts.rows[0].cycles = 9;
  counts.rows[2].context.context_id = 1;
  const std::vector<FunctionRow> rows = functions(counts, symbols, {});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], (FunctionRow{.instructions = 14}));
  const FunctionRow* const of_put = of(rows, "put");
  ASSERT_NE(of_put, nullptr);
  EXPECT_EQ(of_put->instructions, 10U);
  EXPECT_EQ(of_put->calls, 2U);
  EXPECT_EQ(of_put->cycles, 9U);
  EXPECT_EQ(of_put->entered, 0U);
  const FunctionRow* const of_run = of(rows, "run");
  ASSERT_NE(of_run, nullptr);
  EXPECT_EQ(of_run->instructions, 10U);
  EXPECT_EQ(of_run->calls, 5U);
  EXPECT_EQ(of_run->entered, 2U);
}

TEST_F(Functions, a_loop_to_the_beginning_enters_nothing_but_recursion_does) {
  Counts counts;
  counts.rows = {row(kPut + 16, 3, kPut, false), row(kPut + 24, 4, kPut, true)};
  counts.edges = {{.from = kRun + 4,
                   .to = kPut,
                   .from_isa = isa::Isa::kA64,
                   .subtype = isa::InstrSubtype::kNone,
                   .times = 10}};
  const std::vector<FunctionRow> rows = functions(counts, symbols, {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].entered, 4U + 10U) << "what is indirect comes by edges";
  EXPECT_EQ(rows[1].calls, 10U) << "a tail call";
}

TEST_F(Functions, returns_and_what_reads_the_program_counter_call_nothing) {
  Counts counts;
  counts.rows = {row(kPut + 8, 2, kPut + 16, true), row(kRun, 3, kPut + 8, false)};
  counts.edges = {{.from = kRun + 12,
                   .to = kPut,
                   .from_isa = isa::Isa::kA64,
                   .subtype = isa::InstrSubtype::kV8Return,
                   .times = 7}};
  for (const FunctionRow& row : functions(counts, symbols, {})) {
    EXPECT_EQ(row.entered, 0U);
    EXPECT_EQ(row.calls, 0U);
  }
}

TEST_F(Functions, a_function_and_its_cold_part_are_one) {
  symbols.add({{.start = 0x50'0000, .last = 0x50'00FF, .name = "put.cold"}});
  Counts counts;
  counts.rows = {row(kPut, 3, 0x50'0000, false), row(kRun, 5, 0x50'0000, false)};
  const std::vector<FunctionRow> rows = functions(counts, symbols, {});
  const FunctionRow* const part = of(rows, "put.cold");
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->entered, 5U);
}

TEST_F(Functions, the_most_come_first_and_those_without_weight_not_at_all) {
  Counts counts;
  counts.rows = {row(kPut, 3, kNoAddress, false), row(kRun, 5, kPut, true)};
  const auto names = [&](Order order, std::size_t most) {
    std::string text;
    for (const FunctionRow& it : top(functions(counts, symbols, {}), order, most))
      text += it.function->name + " ";
    return text;
  };
  EXPECT_EQ(names(Order::kInstructions, 9), "run put ");
  EXPECT_EQ(names(Order::kInstructions, 1), "run ");
  EXPECT_EQ(names(Order::kTimes, 9), "put ");
  EXPECT_EQ(names(Order::kCalls, 9), "run ");
  EXPECT_EQ(names(Order::kCycles, 9), "");
}

TEST_F(Functions, a_block_that_goes_on_into_the_next_function_is_divided) {
  symbols.add({{.start = kPut + 0x80, .last = kPut + 0x87, .name = "short"}});
  Row row{.range = {.start = kPut + 0x78, .end = kPut + 0x90, .count = 6, .isa = isa::Isa::kA64},
          .executed = 3,
          .cycles = 10};
  EXPECT_EQ(shares(row), "put:6:3 short:6:3 -:6:4 ");
  row.range.end = kPut + 0x80;
  row.range.count = 2;
  EXPECT_EQ(shares(row), "put:6:10 ");
  // Code without a name goes on into a function.
  row.range = {.start = kRun - 4, .end = kRun + 8, .count = 3, .isa = isa::Isa::kA32};
  EXPECT_EQ(shares(row), "-:3:3 run:6:7 ");
  // To the end of memory.
  row.range = {.start = kRun + 0xFC, .end = kRun + 0x104, .count = 2, .isa = isa::Isa::kA64};
  EXPECT_EQ(shares(row), "run:3:5 -:3:5 ");
}

TEST_F(Functions, thumb_code_is_read_to_divide_it) {
  symbols.add({{.start = kPut + 0x80, .last = kPut + 0x87, .name = "short"}});
  // push, then bl and its second half, in put; the others are of 2 bytes.
  const auto read = [](std::uint64_t address) -> std::optional<std::uint16_t> {
    return address == kPut + 0x7C ? 0xF000 : 0xB500;
  };
  const Row row{
      .range = {.start = kPut + 0x7A, .end = kPut + 0x84, .count = 4, .isa = isa::Isa::kT32},
      .executed = 5};
  EXPECT_EQ(shares(row, read), "put:10:0 short:10:0 ");
  EXPECT_EQ(shares(row, [](std::uint64_t) { return std::nullopt; }), "put:20:0 ");
  // The size that the range has is not that of the code.
  const auto narrow = [](std::uint64_t) -> std::optional<std::uint16_t> { return 0xB500; };
  EXPECT_EQ(
      shares(
          {.range = {.start = kPut + 0x70, .end = kPut + 0x84, .count = 5, .isa = isa::Isa::kT32},
           .executed = 1},
          narrow),
      "put:5:0 ");
}

}  // namespace
}  // namespace waymark::count
