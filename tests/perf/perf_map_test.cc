// Maps of the names of JIT compilers.
#include "waymark/perf/perf_map.h"

#include <gmock/gmock.h>

namespace waymark::perf {
namespace {

using image::Function;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(PerfMap, names_may_contain_blanks) {
  EXPECT_THAT(read_perf_map("1000 20 LazyCompile:*run /app/a b.js:3\n0x2000 0x8 f\r\n"),
              ElementsAre(Function{0x1000, 0x101F, "LazyCompile:*run /app/a b.js:3"},
                          Function{0x2000, 0x2007, "f"}));
}

TEST(PerfMap, later_lines_replace_earlier_ones) {
  EXPECT_THAT(read_perf_map("1000 100 old\n1040 10 new\n10f0 20 last\n"),
              ElementsAre(Function{0x1000, 0x103F, "old"}, Function{0x1040, 0x104F, "new"},
                          Function{0x1050, 0x10EF, "old"}, Function{0x10F0, 0x110F, "last"}));
  EXPECT_THAT(read_perf_map("1000 10 a\n1020 10 b\nf00 1000 all\n"),
              ElementsAre(Function{0xF00, 0x1EFF, "all"}));
}

TEST(PerfMap, other_lines_are_ignored) {
  EXPECT_THAT(read_perf_map(""), IsEmpty());
  EXPECT_THAT(read_perf_map("\n1000\n1000 20\n1000 20 \nx 20 f\n1000 y f\n1000 0 empty\n"),
              IsEmpty());
  EXPECT_THAT(read_perf_map("fffffffffffffff0 100 at the end"),
              ElementsAre(Function{0xFFFFFFFFFFFFFFF0, ~std::uint64_t{0}, "at the end"}));
}

}  // namespace
}  // namespace waymark::perf
