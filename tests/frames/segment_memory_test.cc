#include "waymark/frames/segment_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace waymark::frames {
namespace {

Frame frame_of(std::initializer_list<Segment> segments) {
  Frame frame;
  for (const Segment& segment : segments) frame.segments[frame.count++] = segment;
  return frame;
}

Segment segment_of(TraceIndex index, TraceId id, std::initializer_list<std::uint8_t> bytes) {
  Segment segment{.index = index, .id = id, .size = static_cast<std::uint8_t>(bytes.size())};
  std::ranges::copy(bytes, segment.data.begin());
  return segment;
}

TEST(SegmentMemory, a_size_follows_fifteen_bytes_of_data) {
  SegmentMemory memory;
  memory.fill(frame_of({segment_of(0x1234, 0x13, {1, 2, 3}), segment_of(0x1238, 0x14, {4})}));
  const Bytes bytes = memory.from(0);
  EXPECT_THAT(bytes.first(15 + 8 + 5 + 1),
              testing::ElementsAre(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0,
                                   0, 0x38, 0x12, 0, 0, 0x14, 4));
  EXPECT_EQ(memory.from(1)[0], 4);
  EXPECT_EQ(memory.from(7).size(), 23U);
}

TEST(SegmentMemory, a_shorter_segment_leaves_older_bytes_of_its_slot) {
  SegmentMemory memory;
  memory.fill(frame_of({segment_of(0, 0x13, {1, 2, 3, 4})}));
  memory.fill(frame_of({segment_of(16, 0x14, {9, 8})}));
  EXPECT_THAT(memory.from(0).first(4), testing::ElementsAre(9, 8, 3, 4));
}

}  // namespace
}  // namespace waymark::frames
