#include "waymark/inputs/joined_trace.h"

#include <gtest/gtest.h>

#include "waymark/inputs/capture.h"

namespace waymark::inputs {
namespace {

JoinedTrace trace_of(Framing framing) {
  return {.buffers = {{.name = "A", .framing = Framing::kMemoryAligned, .bytes = 4096},
                      {.name = "B", .framing = framing, .bytes = 100}},
          .parts = {{.begin = 16, .buffer = 0, .offset = 0},
                    {.begin = 64, .buffer = 1, .offset = 40},
                    {.begin = 112, .buffer = 0, .offset = 48}}};
}

std::uint64_t offset_at(const JoinedTrace& trace, TraceIndex index) {
  return trace.place(index)->offset;
}

TEST(JoinedTrace, an_index_before_the_first_part_has_no_place) {
  EXPECT_FALSE(trace_of(Framing::kNone).place(15));
  EXPECT_FALSE(JoinedTrace().place(0));
}

TEST(JoinedTrace, frames_keep_their_bytes) {
  const JoinedTrace trace = trace_of(Framing::kMemoryAligned);
  EXPECT_EQ(trace.place(16)->buffer->name, "A");
  EXPECT_EQ(offset_at(trace, 63), 47U);
  EXPECT_EQ(trace.place(64)->buffer->name, "B");
  EXPECT_EQ(offset_at(trace, 64), 40U);
  EXPECT_EQ(offset_at(trace, 1000), 936U);
}

TEST(JoinedTrace, a_stream_has_14_bytes_in_the_first_frame_and_15_in_the_others) {
  const JoinedTrace trace = trace_of(Framing::kNone);
  EXPECT_EQ(offset_at(trace, 64), 40U);
  EXPECT_EQ(offset_at(trace, 64 + 13), 53U);
  EXPECT_EQ(offset_at(trace, 64 + 16), 54U);
  EXPECT_EQ(offset_at(trace, 64 + 16 + 14), 68U);
  EXPECT_EQ(offset_at(trace, 64 + 32), 69U);
}

TEST(JoinedTrace, a_place_is_never_after_the_end_of_the_buffer) {
  JoinedTrace trace = trace_of(Framing::kFsync);
  trace.parts.pop_back();
  EXPECT_EQ(offset_at(trace, 5000), 100U);
}

}  // namespace
}  // namespace waymark::inputs
