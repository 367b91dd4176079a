#include "waymark/flow/step_store.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::flow {
namespace {

using isa::Isa;

TEST(StepLines, a_line_belongs_to_an_address_an_instruction_set_and_a_view) {
  StepLines lines;
  StepLine& line = lines.at(0x1000, Isa::kA32, 1);
  EXPECT_EQ(line.address, 0x1000U);
  EXPECT_EQ(line.isa, Isa::kA32);
  EXPECT_EQ(line.view, 1U);
  EXPECT_EQ(&lines.at(0x1000, Isa::kA32, 1), &line);
  EXPECT_NE(&lines.at(0x1100, Isa::kA32, 1), &line);
  EXPECT_NE(&lines.at(0x1000, Isa::kT32, 1), &line);
  EXPECT_NE(&lines.at(0x1000, Isa::kA32, 2), &line);
}

TEST(StepLines, lines_stay_in_place_and_keep_their_steps) {
  StepLines lines;
  const Step step;
  std::vector<StepLine*> places;
  std::uint32_t count = 0;
  for (; !lines.full(); ++count) {
    ASSERT_LT(count, 1U << 20) << "no bound";
    places.push_back(&lines.at(count << 8, Isa::kA32, 0));
    places.back()->steps[count % StepLine::kSlots] = &step;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(&lines.at(i << 8, Isa::kA32, 0), places[i]);
    ASSERT_EQ(places[i]->steps[i % StepLine::kSlots], &step);
  }
  EXPECT_TRUE(lines.full());
}

TEST(StepLines, a_cleared_one_has_lines_without_steps) {
  StepLines lines;
  const Step step;
  for (std::uint32_t address = 0; !lines.full(); address += 0x100)
    lines.at(address, Isa::kT32, 0).steps[3] = &step;
  lines.clear();
  EXPECT_FALSE(lines.full());
  for (const Step* const found : lines.at(0x100, Isa::kT32, 0).steps) EXPECT_EQ(found, nullptr);
}

TEST(StepStore, kept_steps_are_not_given_again_and_stay_in_place) {
  StepStore store;
  std::vector<Step*> sequences;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    Step* const first = store.space();
    const std::size_t count = 1 + i % StepStore::kLongest;
    for (std::size_t k = 0; k < count; ++k) first[k].address = i;
    first[count] = {};  // It can also be read, and written.
    store.keep(count);
    sequences.push_back(first);
  }
  for (std::uint32_t i = 0; i < 1000; ++i) {
    for (std::size_t k = 0; k < 1 + i % StepStore::kLongest; ++k)
      ASSERT_EQ(sequences[i][k].address, i);
  }
}

TEST(StepStore, space_that_is_not_kept_is_given_again) {
  StepStore store;
  Step* const first = store.space();
  EXPECT_EQ(store.space(), first);
  store.keep(1);
  EXPECT_EQ(store.space(), first + 1);
}

TEST(StepStore, is_full_at_some_time_and_empty_after_clear) {
  StepStore store;
  EXPECT_FALSE(store.full());
  for (std::uint32_t i = 0; !store.full(); ++i) {
    ASSERT_LT(i, 1U << 20) << "no bound";
    store.space();
    store.keep(StepStore::kLongest);
  }
  store.clear();
  EXPECT_FALSE(store.full());
}

}  // namespace
}  // namespace waymark::flow
