#include "waymark/count/instruction_counts.h"

#include <gtest/gtest.h>

namespace waymark::count {
namespace {

Row row(std::uint64_t start, std::uint32_t count, std::uint64_t executed,
        std::uint64_t not_executed, std::uint64_t cycles = 0) {
  return {.range = {.start = start,
                    .end = start + std::uint64_t{4} * count,
                    .count = count,
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = true},
          .executed = executed,
          .not_executed = not_executed,
          .cycles = cycles};
}

constexpr std::uint64_t kAddresses[] = {0x1000, 0x1004, 0x1008, 0x100C};

TEST(InstructionCounts, ranges_that_overlap) {
  Counts counts;
  counts.rows = {row(0x1000, 3, 5, 2), row(0x1004, 2, 10, 0), row(0x100C, 1, 0, 3)};
  const auto sums = instruction_counts(counts, kAddresses, 0x1010);
  ASSERT_EQ(sums.size(), 4U);
  EXPECT_EQ(sums[0], (InstructionCount{.times = 7}));
  EXPECT_EQ(sums[1], (InstructionCount{.times = 17}));
  EXPECT_EQ(sums[2], (InstructionCount{.times = 17, .taken = 15, .not_taken = 2}));
  EXPECT_EQ(sums[3], (InstructionCount{.times = 3, .not_taken = 3}));
}

TEST(InstructionCounts, ranges_that_begin_or_end_outside) {
  Counts counts;
  counts.rows = {row(0xFF8, 4, 1, 0), row(0x100C, 4, 0, 2), row(0xF00, 2, 9, 9),
                 row(0x1010, 2, 9, 9)};
  const auto sums = instruction_counts(counts, kAddresses, 0x1010);
  EXPECT_EQ(sums[0], (InstructionCount{.times = 1}));
  EXPECT_EQ(sums[1], (InstructionCount{.times = 1, .taken = 1}));
  EXPECT_EQ(sums[2], (InstructionCount{}));
  EXPECT_EQ(sums[3], (InstructionCount{.times = 2}));
}

TEST(InstructionCounts, cycles_are_divided_without_loss) {
  Counts counts;
  counts.rows = {row(0x1000, 4, 3, 0, 10), row(0x1004, 3, 1, 0, 100)};
  const auto sums = instruction_counts(counts, kAddresses, 0x1010);
  EXPECT_EQ(sums[0].cycles, 2U);
  EXPECT_EQ(sums[1].cycles, 3U + 33U);
  EXPECT_EQ(sums[2].cycles, 2U + 33U);
  EXPECT_EQ(sums[3].cycles, 3U + 34U);
}

TEST(InstructionCounts, no_instructions) {
  EXPECT_TRUE(instruction_counts(Counts(), {}, 0).empty());
}

}  // namespace
}  // namespace waymark::count
