#include "../../src/view/state_cache.h"

#include <gtest/gtest.h>

namespace waymark::view {
namespace {

StateCache::State state() { return std::make_shared<const DecodeTree>(std::nullopt); }

TEST(StateCache, keeps_the_last_ones_that_were_used) {
  StateCache cache;
  cache.set_most(2);
  const StateCache::State first = state();
  cache.keep(10, first);
  cache.keep(20, state());
  EXPECT_EQ(cache.find(10), first);
  cache.keep(30, state());
  EXPECT_TRUE(cache.has(10));
  EXPECT_FALSE(cache.has(20));
  EXPECT_TRUE(cache.has(30));
  EXPECT_EQ(cache.find(20), nullptr);
}

TEST(StateCache, a_place_keeps_its_first_state) {
  StateCache cache;
  cache.set_most(2);
  const StateCache::State first = state();
  cache.keep(10, first);
  cache.keep(10, state());
  EXPECT_EQ(cache.find(10), first);
}

TEST(StateCache, a_lower_limit_drops_what_is_beyond_it) {
  StateCache cache;
  cache.keep(5, state());
  EXPECT_FALSE(cache.has(5));
  cache.set_most(3);
  for (const TraceIndex at : {10U, 20U, 30U}) cache.keep(at, state());
  cache.set_most(1);
  EXPECT_FALSE(cache.has(10) || cache.has(20));
  EXPECT_TRUE(cache.has(30));
}

}  // namespace
}  // namespace waymark::view
