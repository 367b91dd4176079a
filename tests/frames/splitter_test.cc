#include "waymark/frames/splitter.h"

#include <gtest/gtest.h>

#include <random>

#include "frames/hex.h"
#include "frames/listing.h"
#include "waymark/frames/mux.h"

namespace waymark::frames {
namespace {

/// The output of the stepwise demultiplexer for each stream.
struct Stepwise {
  std::array<StreamBuffer, kTraceIdCount> streams;
  Statistics statistics;
};

std::vector<std::string> runs_of(const StreamBlock& block) {
  std::vector<std::string> result;
  for_each_segment(block, [&](std::size_t position, TraceIndex index, std::size_t) {
    result.push_back(std::to_string(position) + "@" + std::to_string(index));
  });
  return result;
}

void expect_same(const StreamBuffer& left, const StreamBuffer& right) {
  EXPECT_TRUE(std::ranges::equal(left.block().bytes, right.block().bytes));
  EXPECT_EQ(runs_of(left.block()), runs_of(right.block()));
}

Stepwise stepwise(const Options& options, Bytes bytes) {
  Stepwise result;
  Demux demux(options);
  EXPECT_TRUE(demux.feed(0, bytes));
  for (Step step = demux.step(); step != Step::kNeedInput; step = demux.step()) {
    if (step == Step::kError) demux.resync();
    if (step != Step::kFrame) continue;
    for (const Segment& segment : demux.frame().view()) {
      demux.statistics().count(segment.id, segment.size, is_source_id(segment.id));
      if (is_source_id(segment.id))
        result.streams[segment.id].append(segment.index, segment.bytes());
    }
  }
  result.statistics = demux.statistics();
  return result;
}

void expect_bulk_equals_stepwise(const Options& options, Bytes bytes, std::size_t chunk) {
  const Stepwise expected = stepwise(options, bytes);
  StreamSplitter splitter(options);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    ASSERT_TRUE(splitter.feed(at, bytes.subspan(at, std::min(chunk, bytes.size() - at))));
    for (Step step = splitter.step(); step != Step::kNeedInput; step = splitter.step()) {
      ASSERT_NE(step, Step::kFrame);
      if (step == Step::kError) splitter.resync();
    }
  }
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    expect_same(splitter.stream(id), expected.streams[id]);
  EXPECT_EQ(splitter.statistics(source_ids()), expected.statistics);
}

TEST(StreamBuffer, runs_record_where_each_part_comes_from) {
  StreamBuffer buffer;
  buffer.append(4, hex("01 02 03"));
  buffer.append(20, {});
  buffer.append(24, hex("04"));
  EXPECT_EQ(runs_of(buffer.block()), (std::vector<std::string>{"0@4", "3@24"}));
  EXPECT_TRUE(std::ranges::equal(buffer.block().bytes, hex("01 02 03 04")));
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.block().runs.empty());
}

TEST(StreamSplitter, one_run_a_segment_and_only_wanted_ids) {
  const auto bytes =
      hex("21 01 02 03 04 05 06 07 41 08 08 0a 0a 0c 0c e0 "
          "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 00");
  IdSet wanted;
  wanted.set(0x20);
  StreamSplitter splitter(kAligned, wanted);
  ASSERT_TRUE(splitter.feed(160, bytes));
  EXPECT_EQ(splitter.step(), Step::kNeedInput);
  EXPECT_TRUE(splitter.stream(0x10).empty());
  EXPECT_EQ(runs_of(splitter.stream(0x20).block()), (std::vector<std::string>{"0@168", "6@176"}));
  EXPECT_TRUE(splitter.seen()[0x10]);
  EXPECT_EQ(splitter.seen().count(), 2U);
  const Statistics counts = splitter.statistics(wanted);
  EXPECT_EQ(counts, (Statistics{.valid_id_bytes = 21, .no_id_bytes = 7, .frame_bytes = 4}));
}

TEST(StreamSplitter, stops_at_a_reset_between_old_and_new_data) {
  Mux mux;
  ASSERT_TRUE(mux.write(0x10, hex("01 02 03")));
  mux.append_reset();
  ASSERT_TRUE(mux.write(0x10, hex("04 05")));
  mux.finish();
  StreamSplitter splitter(kAlignedReset);
  ASSERT_TRUE(splitter.feed(0, mux.bytes()));
  EXPECT_EQ(splitter.step(), Step::kReset);
  EXPECT_EQ(splitter.stream(0x10).size(), 3U);
  EXPECT_EQ(splitter.step(), Step::kNeedInput);
  EXPECT_EQ(splitter.stream(0x10).size(), 5U);
}

TEST(StreamSplitter, equals_the_stepwise_demultiplexer) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint8_t> bytes(16 * (1 + random() % 200));
    const std::size_t ids = 1 + random() % 40;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(random());
      if (i % 2 == 0 && random() % ids != 0) bytes[i] &= 0xFE;
    }
    expect_bulk_equals_stepwise(kAligned, bytes, bytes.size());
    expect_bulk_equals_stepwise(kAligned, bytes, 48);
    expect_bulk_equals_stepwise(kAlignedReset, bytes, 48);
    expect_bulk_equals_stepwise(kBare, bytes, 32);
  }
}

TEST(StreamSplitter, equals_the_stepwise_demultiplexer_with_syncs) {
  std::mt19937_64 random(6);
  for (const unsigned hsync : {0U, 7U}) {
    const MuxOptions options{.fsync_period = 2, .hsync_period = hsync};
    Mux mux(options);
    for (int write = 0; write < 1000; ++write)
      ASSERT_TRUE(mux.write(static_cast<TraceId>(random() % 4),
                            std::vector<std::uint8_t>(random() % 50, 0x55)));
    mux.finish();
    auto bytes = mux.take();
    bytes.resize(bytes.size() / 4 * 4);
    expect_bulk_equals_stepwise(options.demux_options(), bytes, bytes.size());
    expect_bulk_equals_stepwise(options.demux_options(), bytes, 504);
  }
}

TEST(StreamSplitter, long_captures_of_one_source_go_on_through_growth) {
  Mux mux({.id_repeat = 0});
  std::vector<std::uint8_t> bytes(100000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 >> 3);
  ASSERT_TRUE(mux.write(0x10, bytes));
  mux.finish();
  StreamSplitter splitter(kAligned);
  ASSERT_TRUE(splitter.feed(0, mux.bytes()));
  EXPECT_EQ(splitter.step(), Step::kNeedInput);
  EXPECT_TRUE(std::ranges::equal(splitter.stream(0x10).block().bytes, bytes));
}

}  // namespace
}  // namespace waymark::frames
