#include "waymark/frames/stream.h"

#include <gtest/gtest.h>

namespace waymark::frames {
namespace {

TEST(FramesIndexer, reports_how_many_bytes_have_consecutive_indexes) {
  const frames::Run whole{.position = 7, .index = 100, .whole_frames = true};
  const Indexer index(whole);
  for (std::size_t at = whole.position; at < 200; ++at) {
    EXPECT_EQ(index(at), whole.index_at(at));
    std::size_t bytes = 1;
    while (whole.index_at(at + bytes) == whole.index_at(at) + bytes) ++bytes;
    EXPECT_EQ(index.followed_by(at), bytes) << at;
  }
}

TEST(FramesIndexer, knows_no_end_of_a_run_without_frames) {
  const frames::Run run{.position = 7, .index = 100};
  const Indexer index(run);
  for (std::size_t at = run.position; at < 200; ++at) {
    EXPECT_EQ(index(at), run.index_at(at));
    EXPECT_GT(index.followed_by(at), std::size_t{1} << 32);
  }
}

}  // namespace
}  // namespace waymark::frames
