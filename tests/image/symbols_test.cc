// Functions by address, with several candidates.
#include "waymark/image/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::image {
namespace {

std::string name_at(const Symbols& symbols, std::uint64_t address) {
  const Function* const function = symbols.find(address);
  return function == nullptr ? "-" : function->name;
}

TEST(Symbols, a_function_reaches_from_its_first_byte_to_its_last) {
  Symbols symbols;
  EXPECT_EQ(symbols.find(0x100), nullptr);
  symbols.add({{.start = 0x200, .last = 0x20F, .name = "second"},
               {.start = 0x100, .last = 0x10F, .name = "first"}});
  EXPECT_EQ(name_at(symbols, 0x100), "first");
  EXPECT_EQ(name_at(symbols, 0x10F), "first");
  EXPECT_EQ(name_at(symbols, 0x110), "-");
  EXPECT_EQ(name_at(symbols, 0x200), "second");
  EXPECT_EQ(symbols.find(0), nullptr);
  EXPECT_EQ(symbols.find(~std::uint64_t{0}), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(symbols.functions(), {}, &Function::start));
}

TEST(Symbols, no_more_are_kept_than_asked) {
  const std::vector<Function> all = {{.start = 0x100, .last = 0x10F, .name = "a"},
                                     {.start = 0x110, .last = 0x11F, .name = "b"},
                                     {.start = 0x120, .last = 0x12F, .name = "c"}};
  Symbols few(2);
  few.add(all);
  EXPECT_EQ(few.functions(), std::vector(all.begin(), all.begin() + 2));
  few.add(all);
  EXPECT_EQ(few.functions().size(), 2U);
}

TEST(Symbols, others_can_add_theirs_and_nonsense_is_left_out) {
  Symbols symbols;
  symbols.add({{.start = 0x100, .last = 0x10F, .name = "first"},
               {.start = 0x10F, .last = 0x200, .name = "overlaps it"},
               {.start = 0x400, .last = 0x3FF, .name = "ends before it starts"},
               {.start = ~std::uint64_t{0} - 1, .last = ~std::uint64_t{0}, .name = "at the end"},
               {.start = 0x110, .last = 0x110, .name = "one byte"}});
  EXPECT_EQ(symbols.functions().size(), 3U);
  EXPECT_EQ(name_at(symbols, 0x10F), "first");
  EXPECT_EQ(name_at(symbols, 0x110), "one byte");
  EXPECT_EQ(name_at(symbols, 0x111), "-");
  EXPECT_EQ(name_at(symbols, ~std::uint64_t{0}), "at the end");
}

}  // namespace
}  // namespace waymark::image
