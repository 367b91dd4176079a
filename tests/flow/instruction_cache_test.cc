#include "waymark/flow/instruction_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::flow {
namespace {

using isa::InstrType;
using isa::Isa;

class InstructionCacheTest : public testing::Test {
 protected:
  void program(std::uint32_t address, std::initializer_list<std::uint32_t> words,
               image::SpaceMask space = image::kSpaceAny) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    ASSERT_TRUE(image_.add_buffer(address, bytes, space));
  }
  InstructionCache cache() { return InstructionCache(image_, {}, 1); }

  image::Image image_;
};

TEST_F(InstructionCacheTest, an_instruction_is_classified_once) {
  program(0x1000, {0xE1A00000, 0xE5910000, 0xEB000004, 0xE12FFF1E});
  InstructionCache steps = cache();
  const Step* step = steps.at(0x1008, Isa::kA32);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->type(), InstrType::kBranch);
  EXPECT_EQ(steps.target(*step), 0x1020U);
  EXPECT_EQ(step->size(), 4U);
  EXPECT_EQ(steps.next_isa(*step), Isa::kA32);
  steps.at(0x1000, Isa::kA32);
  const std::uint64_t before = steps.classified();
  EXPECT_EQ(steps.at(0x1004, Isa::kA32)->access(), isa::DataAccess::kMemory);
  EXPECT_EQ(steps.at(0x1008, Isa::kA32)->type(), InstrType::kBranch);
  EXPECT_EQ(steps.classified(), before);
}

TEST_F(InstructionCacheTest, both_instruction_sets_at_one_address) {
  program(0x1000, {0x4770BF00, 0xE12FFF1E});
  InstructionCache steps = cache();
  EXPECT_EQ(steps.at(0x1000, Isa::kT32)->size(), 2U);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->size(), 4U);
  EXPECT_EQ(steps.at(0x1002, Isa::kT32)->type(), InstrType::kIndirectBranch);
}

TEST_F(InstructionCacheTest, an_unaligned_address_uses_the_same_slot) {
  program(0x1000, {0xE1A00000, 0xEA000000, 0xE1A00000});
  InstructionCache steps = cache();
  EXPECT_EQ(steps.at(0x1004, Isa::kA32)->type(), InstrType::kBranch);
  const Step* odd = steps.at(0x1006, Isa::kA32);
  ASSERT_NE(odd, nullptr);
  EXPECT_NE(odd->type(), InstrType::kBranch);
}

TEST_F(InstructionCacheTest, missing_memory_is_reported_and_not_cached) {
  InstructionCache steps = cache();
  EXPECT_EQ(steps.at(0x1000, Isa::kA32), nullptr);
  EXPECT_EQ(steps.outcome(), BlockEnd::kNotAccessible);
  program(0x1000, {0xE1A00000});
  EXPECT_NE(steps.at(0x1000, Isa::kA32), nullptr);
  EXPECT_EQ(steps.at(0x1000, Isa::kJazelle), nullptr);
  EXPECT_EQ(steps.outcome(), BlockEnd::kUnsupported);
}

TEST_F(InstructionCacheTest, an_unknown_instruction_set_is_in_no_line) {
  InstructionCache steps = cache();
  EXPECT_EQ(steps.at(0, Isa::kUnknown), nullptr);
}

TEST_F(InstructionCacheTest, the_last_two_bytes_are_an_instruction) {
  program(0x1000, {0xBF00BF00});
  InstructionCache steps = cache();
  EXPECT_NE(steps.at(0x1000, Isa::kT32), nullptr);
  EXPECT_NE(steps.at(0x1002, Isa::kT32), nullptr);
  EXPECT_EQ(steps.at(0x1004, Isa::kT32), nullptr);
}

TEST_F(InstructionCacheTest, memory_spaces_do_not_answer_for_each_other) {
  program(0x1000, {0xE1A00000}, image::kSpaceSecure);
  program(0x1000, {0xE12FFF1E}, image::kSpaceNonSecure);
  InstructionCache steps = cache();
  steps.select(image::kSpaceSecure, 0);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->type(), InstrType::kOther);
  steps.select(image::kSpaceNonSecure, 0);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->type(), InstrType::kIndirectBranch);
  steps.select(image::kSpaceSecure, 0);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->type(), InstrType::kOther);
}

TEST_F(InstructionCacheTest, switched_off_it_reads_again) {
  program(0x1000, {0xE1A00000});
  InstructionCache steps = cache();
  steps.set_enabled(false);
  steps.at(0x1000, Isa::kA32);
  steps.at(0x1000, Isa::kA32);
  EXPECT_EQ(steps.classified(), 2U);
}

TEST_F(InstructionCacheTest, a_changed_image_is_read_again) {
  program(0x1000, {0xE1A00000});
  InstructionCache steps = cache();
  steps.select(image::kSpaceSecure, 0);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->type(), InstrType::kOther);
  ASSERT_TRUE(image_.remove(0x1000, image::kSpaceAny));
  program(0x1000, {0xE12FFF1E});
  steps.select(image::kSpaceSecure, 0);
  EXPECT_EQ(steps.at(0x1000, Isa::kA32)->type(), InstrType::kIndirectBranch);
}

TEST_F(InstructionCacheTest, many_lines_keep_their_contents) {
  std::vector<std::uint8_t> bytes(std::size_t{1} << 20);
  for (std::size_t i = 0; i < bytes.size(); i += 4) bytes[i + 3] = 0xE1;
  ASSERT_TRUE(image_.add_buffer(0x100000, bytes));
  InstructionCache steps = cache();
  for (unsigned pass = 0; pass < 2; ++pass)
    for (std::uint32_t at = 0; at < bytes.size(); at += 1024)
      ASSERT_NE(steps.at(0x100000 + at, Isa::kA32), nullptr);
  EXPECT_LE(steps.classified(), bytes.size() / 4);
}

TEST_F(InstructionCacheTest, steps_follow_one_another_up_to_what_is_always_taken) {
  // MOV, BNE, MOV, B.
  program(0x1000, {0xE1A00000, 0x1A000000, 0xE1A00000, 0xEA000001});
  InstructionCache steps = cache();
  const Step* step = steps.at(0x1000, Isa::kA32);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step[1].address, 0x1004U);
  EXPECT_TRUE(step[1].is_branch());
  EXPECT_TRUE(step[1].conditional());
  EXPECT_EQ(step[3].end, 0x1010U);
  EXPECT_FALSE(step[3].is_end());
  EXPECT_TRUE(step[4].is_end());
  EXPECT_EQ(step[4].address, 0x1010U);
}

TEST_F(InstructionCacheTest, a_branch_leads_to_its_target_and_an_end_to_what_is_known) {
  program(0x1000, {0xE1A00000, 0xE1A00000, 0xEAFFFFFD});
  InstructionCache steps = cache();
  const Step* second = steps.at(0x1004, Isa::kA32);
  const Step* first = steps.at(0x1000, Isa::kA32);
  ASSERT_TRUE(first[1].is_end());
  const std::uint64_t before = steps.classified();
  EXPECT_EQ(steps.after(first[1]), second);
  EXPECT_EQ(steps.after(second[1]), second);
  EXPECT_EQ(steps.classified(), before);
}

TEST_F(InstructionCacheTest, a_sequence_goes_on_in_the_next_line) {
  const std::vector<std::uint8_t> bytes(1024);
  ASSERT_TRUE(image_.add_buffer(0x1000, bytes));
  InstructionCache steps = cache();
  const Step* step = steps.at(0x10F8, Isa::kA32);
  ASSERT_NE(step, nullptr);
  ASSERT_TRUE(step[2].is_end());
  const Step* next = steps.after(step[2]);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->address, 0x1100U);
  EXPECT_EQ(steps.after(step[2]), next);
}

TEST_F(InstructionCacheTest, nothing_follows_missing_code) {
  program(0x1000, {0xE1A00000, 0xEA000400});
  InstructionCache steps = cache();
  const Step* step = steps.at(0x1000, Isa::kA32);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(steps.after(step[1]), nullptr);
  EXPECT_EQ(steps.outcome(), BlockEnd::kNotAccessible);
  EXPECT_EQ(steps.after(step[2]), nullptr);
}

TEST_F(InstructionCacheTest, switched_off_it_still_goes_on) {
  program(0x1000, {0xE1A00000, 0xEAFFFFFD});
  InstructionCache steps = cache();
  steps.set_enabled(false);
  const Step* step = steps.at(0x1000, Isa::kA32);
  ASSERT_NE(step, nullptr);
  ASSERT_TRUE(step[1].is_end());
  step = steps.after(step[1]);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->address, 0x1004U);
  EXPECT_EQ(steps.next_isa(*step), Isa::kA32);
  step = steps.after(*step);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->address, 0x1000U);
}

TEST_F(InstructionCacheTest, find_gives_what_at_gives) {
  program(0x1000, {0xE1A00000, 0xE1A00000});
  InstructionCache steps = cache();
  const Step* step = steps.at(0x1004, Isa::kA32);
  EXPECT_EQ(steps.find(0x1004, Isa::kA32), step);
  EXPECT_EQ(steps.find(0x1004, Isa::kA32), step);
  EXPECT_EQ(steps.find(0x2004, Isa::kA32), nullptr);
  EXPECT_NE(steps.find(0x1004, Isa::kT32), step);
}

TEST_F(InstructionCacheTest, finds_nothing_in_an_instruction_set_that_is_not_known) {
  program(0, {0xE1A00000, 0xE1A00000});
  InstructionCache steps = cache();
  EXPECT_EQ(steps.find(0, Isa::kUnknown), nullptr);
  EXPECT_EQ(steps.outcome(), BlockEnd::kUnsupported);
}

}  // namespace
}  // namespace waymark::flow
