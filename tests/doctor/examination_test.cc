#include "waymark/doctor/examination.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/streams.h"
#include "waymark/doctor/found_snapshot.h"
#include "waymark/frames/mux.h"

namespace waymark::doctor {
namespace {

Stream framed(const frames::MuxOptions& options = {}) {
  const Stream etm = etmv4_stream();
  const Stream itm = swo_stream();
  frames::Mux mux(options);
  for (std::size_t at = 0; at < etm.size(); at += 100) {
    EXPECT_TRUE(
        mux.write(0x10, Bytes(etm).subspan(at, std::min<std::size_t>(100, etm.size() - at))));
    if (at >= itm.size()) continue;
    EXPECT_TRUE(
        mux.write(0x20, Bytes(itm).subspan(at, std::min<std::size_t>(100, itm.size() - at))));
  }
  mux.finish();
  return mux.take();
}

void expect_both_sources(const Examination& found) {
  ASSERT_EQ(found.streams.size(), 2U);
  EXPECT_EQ(found.streams[0].id, 0x10);
  EXPECT_EQ(found.streams[0].verdict.protocol, "etmv4");
  EXPECT_EQ(found.streams[1].id, 0x20);
  EXPECT_EQ(found.streams[1].verdict.protocol, "itm");
}

TEST(Examination, frames_without_syncs) {
  const auto found = examine(framed());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->framing.framing, inputs::Framing::kMemoryAligned);
  EXPECT_EQ(found->framing.confidence, Confidence::kSure);
  expect_both_sources(*found);
}

TEST(Examination, frames_after_a_header) {
  Stream bytes = {'H', 'E', 'A', 'D', '1'};
  append(bytes, framed());
  const auto found = examine(bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->framing.framing, inputs::Framing::kMemoryAligned);
  EXPECT_EQ(found->framing.header % 16, 5U);
  expect_both_sources(*found);
}

TEST(Examination, frames_with_syncs) {
  const auto full = examine(framed({.fsync_period = 8}));
  ASSERT_TRUE(full);
  EXPECT_EQ(full->framing.framing, inputs::Framing::kFsync);
  expect_both_sources(*full);
  const auto half = examine(framed({.fsync_period = 16, .hsync_period = 4}));
  ASSERT_TRUE(half);
  EXPECT_EQ(half->framing.framing, inputs::Framing::kHsync);
  expect_both_sources(*half);
}

TEST(Examination, one_stream_without_frames) {
  const auto found = examine(etmv4_stream());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->framing.framing, inputs::Framing::kNone);
  ASSERT_EQ(found->streams.size(), 1U);
  EXPECT_EQ(found->streams[0].verdict.protocol, "etmv4");
}

TEST(Examination, a_hex_dump_of_frames) {
  const Stream bytes = framed();
  std::string text;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    if (at % 16 == 0) text += fmt::format("{}0x{:08x}:", at == 0 ? "" : "\n", 0x80000000 + at);
    text += fmt::format("\t0x{:08x}", std::uint32_t{bytes[at]} | std::uint32_t{bytes[at + 1]} << 8 |
                                          std::uint32_t{bytes[at + 2]} << 16 |
                                          std::uint32_t{bytes[at + 3]} << 24);
  }
  text += '\n';
  const auto found =
      examine(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wrapping, Wrapping::kText);
  expect_both_sources(*found);
}

TEST(Examination, bytes_without_trace_are_errors) {
  EXPECT_FALSE(examine({}));
  EXPECT_FALSE(examine(Stream(100, 0xFF)));
}

TEST(Examination, a_snapshot_has_the_sources) {
  const auto found = examine(framed());
  ASSERT_TRUE(found);
  const auto snapshot = snapshot_of(*found);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->devices.size(), 3U);  // Two sources and a core.
  EXPECT_EQ(snapshot->source_buffers.size(), 2U);
  ASSERT_EQ(snapshot->buffers.size(), 1U);
  EXPECT_EQ(snapshot->buffers[0].format, "coresight");
}

TEST(Examination, a_snapshot_cannot_have_half_syncs) {
  Examination found;
  found.framing.framing = inputs::Framing::kHsync;
  EXPECT_EQ(snapshot_of(found).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace waymark::doctor
