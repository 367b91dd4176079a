#include "waymark/perf/kallsyms.h"

#include <gmock/gmock.h>

namespace waymark::perf {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Kallsyms, functions_reach_to_the_next_one) {
  const auto all = read_kallsyms(
      "ffff800008010010 t second\n"
      "ffff800008010000 T _text\r\n"
      "ffff800008010000 T also_text\n"
      "ffff800008010008 t $x\n"
      "ffff800008010018 D data\n"
      "not a line\n"
      "ffff800000000100 t in_module\t[module]");
  ASSERT_TRUE(all) << all.error().detail;
  ASSERT_THAT(*all, SizeIs(3));
  EXPECT_EQ((*all)[0].name, "in_module");
  EXPECT_EQ((*all)[1], (image::Function{0xffff800008010000, 0xffff80000801000f, "_text"}));
  EXPECT_EQ((*all)[2].name, "second");
}

TEST(Kallsyms, addresses_that_the_kernel_hides_are_an_error) {
  const auto hidden = read_kallsyms("0000000000000000 T _text\n0000000000000000 t x\n");
  ASSERT_FALSE(hidden);
  EXPECT_THAT(hidden.error().detail, HasSubstr("kptr_restrict"));
  ASSERT_FALSE(read_kallsyms(""));
  ASSERT_FALSE(read_kallsyms("ffff800008010000 D data\n"));
}

TEST(Kallsyms, the_last_address) {
  const auto all = read_kallsyms("ffffffffffffffff T end\n");
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].last, 0xffffffffffffffffU);
}

}  // namespace
}  // namespace waymark::perf
