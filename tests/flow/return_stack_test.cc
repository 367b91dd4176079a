#include "waymark/flow/return_stack.h"

#include <gtest/gtest.h>

namespace waymark::flow {
namespace {

TEST(ReturnStack, gives_back_the_newest_first) {
  ReturnStack stack;
  stack.push(0x100, isa::Isa::kA64);
  stack.push(0x200, isa::Isa::kT32);
  ReturnStack::Entry entry;
  ASSERT_TRUE(stack.pop(entry));
  EXPECT_EQ(entry.address, 0x200U);
  EXPECT_EQ(entry.isa, isa::Isa::kT32);
  ASSERT_TRUE(stack.pop(entry));
  EXPECT_EQ(entry.address, 0x100U);
}

TEST(ReturnStack, reports_when_it_is_empty) {
  ReturnStack stack;
  ReturnStack::Entry entry;
  EXPECT_FALSE(stack.pop(entry));
  stack.push(0x100, isa::Isa::kA64);
  EXPECT_TRUE(stack.pop(entry));
  EXPECT_FALSE(stack.pop(entry));
}

TEST(ReturnStack, forgets_the_oldest_beyond_sixteen) {
  ReturnStack stack;
  for (std::uint64_t i = 0; i < 20; ++i) stack.push(i, isa::Isa::kA64);
  EXPECT_EQ(stack.size(), ReturnStack::kDepth);
  ReturnStack::Entry entry;
  for (std::uint64_t i = 20; i-- > 4;) {
    ASSERT_TRUE(stack.pop(entry));
    EXPECT_EQ(entry.address, i);
  }
  EXPECT_FALSE(stack.pop(entry));
}

TEST(ReturnStack, is_empty_after_clear) {
  ReturnStack stack;
  stack.push(0x100, isa::Isa::kA64);
  stack.clear();
  ReturnStack::Entry entry;
  EXPECT_EQ(stack.size(), 0U);
  EXPECT_FALSE(stack.pop(entry));
}

}  // namespace
}  // namespace waymark::flow
