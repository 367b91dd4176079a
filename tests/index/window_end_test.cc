#include "waymark/index/window_end.h"

#include <gtest/gtest.h>

#include <array>

namespace waymark::index {
namespace {

constexpr TraceIndex kTo = 1000;

/// Two sources, and what they are asked.
struct Bench {
  std::array<SourceProgress, 2> sources{{{0x10, 100}, {0x11, 200}}};
  frames::IdSet with_more;
  frames::IdSet left;
  WindowEnd end{kTo};

  Bench() {
    with_more.set(0x10);
    with_more.set(0x11);
  }
  bool reached(TraceIndex index) {
    return end.reached(
        index, sources, [&](TraceId id) { return with_more[id]; },
        [&](TraceId id) { left.set(id); });
  }
};

TEST(WindowEnd, is_never_before_the_place) {
  Bench bench;
  bench.with_more.reset();
  EXPECT_FALSE(bench.reached(kTo - 1));
  EXPECT_TRUE(bench.reached(kTo));
}

TEST(WindowEnd, waits_for_sources_that_have_more) {
  Bench bench;
  EXPECT_FALSE(bench.reached(kTo));
  bench.with_more.reset(0x10);
  EXPECT_FALSE(bench.reached(kTo + 16));
  bench.with_more.reset(0x11);
  EXPECT_TRUE(bench.reached(kTo + 32));
}

TEST(WindowEnd, a_source_that_gave_something_later_is_done) {
  Bench bench;
  bench.end.add(0x10, kTo - 1);
  EXPECT_FALSE(bench.reached(kTo));
  EXPECT_TRUE(bench.left.none());
  bench.end.add(0x10, kTo);
  EXPECT_FALSE(bench.reached(kTo));
  EXPECT_TRUE(bench.left[0x10]);
  EXPECT_FALSE(bench.left[0x11]);
  bench.end.add(0x11, kTo + 5);
  EXPECT_TRUE(bench.reached(kTo));
}

TEST(WindowEnd, a_source_holds_back_a_limited_number_of_bytes) {
  Bench bench;
  EXPECT_FALSE(bench.reached(kTo));
  for (SourceProgress& source : bench.sources) source.bytes += WindowEnd::kHeldBack;
  EXPECT_FALSE(bench.reached(kTo));
  for (SourceProgress& source : bench.sources) ++source.bytes;
  EXPECT_TRUE(bench.reached(kTo));
}

TEST(WindowEnd, without_a_place_nothing_ends) {
  WindowEnd none;
  none.add(0x10, kNoIndex - 1);
  EXPECT_FALSE(none.reached(kNoIndex - 1, {}, {}, {}));
}

}  // namespace
}  // namespace waymark::index
