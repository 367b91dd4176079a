#include "waymark/frames/demux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frames/hex.h"
#include "frames/listing.h"

namespace waymark::frames {
namespace {

using testing::ElementsAre;

const std::vector<std::uint8_t> kFsyncBytes = hex("ff ff ff 7f");
const std::vector<std::uint8_t> kFrameA = hex("21 01 02 03 04 05 06 07 41 08 08 0a 0a 0c 0c e0");
const std::vector<std::uint8_t> kFrameB = hex("0e 0f 61 10 10 12 12 14 14 16 21 17 18 19 20 3c");
const std::vector<std::uint8_t> kFrameC = hex("03 0e 05 0f 07 10 09 11 0b 12 0d 13 0f 14 50 ff");
const char kSegmentA1[] = "0;10; 01 02 03 04 05 06 07";
const char kSegmentA2[] = "8;20; 08 09 0a 0b 0c 0d";

std::vector<std::string> lines(const Options& options, const std::vector<std::uint8_t>& bytes) {
  return list(options, bytes).lines;
}

std::vector<std::string> unpacked(const std::vector<std::uint8_t>& bytes, TraceIndex index,
                                  TraceId& id, unsigned* overhead = nullptr) {
  Frame frame;
  const unsigned others = unpack(bytes.data(), index, id, frame);
  if (overhead != nullptr) *overhead = others;
  std::vector<std::string> result;
  for (const Segment& segment : frame.view()) result.push_back(line_of(segment));
  return result;
}

// A direct implementation of the table of frames.md 1.2, byte by byte.
Frame unpack_by_the_table(const std::uint8_t* bytes, TraceIndex index, TraceId& id) {
  Frame frame;
  frame.count = 1;
  frame.segments[0].id = id;
  frame.segments[0].index = index;
  const auto append = [&](unsigned byte) {
    Segment& segment = frame.segments[frame.count - 1U];
    segment.data[segment.size++] = static_cast<std::uint8_t>(byte);
  };
  for (unsigned i = 0; i < 14; i += 2) {
    const bool flag = ((bytes[15] >> (i / 2)) & 1) != 0;
    if ((bytes[i] & 1) == 0) {
      append(bytes[i] | (flag ? 1U : 0U));
      append(bytes[i + 1]);
      continue;
    }
    const auto next = static_cast<TraceId>(bytes[i] >> 1);
    const bool delayed = flag && next != id;
    if (delayed) append(bytes[i + 1]);
    if (next != id) {
      if (frame.segments[frame.count - 1U].size != 0) {
        frame.segments[frame.count++] = {};
        frame.segments[frame.count - 1U].index = index + i;
      }
      frame.segments[frame.count - 1U].id = id = next;
    }
    if (!delayed) append(bytes[i + 1]);
  }
  if ((bytes[14] & 1) != 0) {
    id = bytes[14] >> 1;
  } else {
    append(bytes[14] | (bytes[15] >> 7));
  }
  return frame;
}

TEST(Unpack, two_sources_in_one_frame) {
  TraceId id = kNoTraceId;
  unsigned overhead = 0;
  EXPECT_THAT(unpacked(kFrameA, 0, id, &overhead), ElementsAre(kSegmentA1, kSegmentA2));
  EXPECT_EQ(id, 0x20);
  EXPECT_EQ(overhead, 3U);
}

TEST(Unpack, delayed_change_gives_the_next_byte_to_the_old_id) {
  TraceId id = 0x20;
  EXPECT_THAT(unpacked(kFrameB, 16, id),
              ElementsAre("16;20; 0e 0f", "18;30; 10 11 12 13 14 15 16 17", "26;10; 18 19 20"));
}

TEST(Unpack, eight_segments) {
  TraceId id = 0x20;
  EXPECT_THAT(unpacked(kFrameC, 16, id),
              ElementsAre("16;20; 0e", "16;01; 0f", "18;02; 10", "20;03; 11", "22;04; 12",
                          "24;05; 13", "26;06; 14", "28;07; 51"));
}

TEST(Unpack, bytes_before_the_first_id_are_of_no_source) {
  TraceId id = kNoTraceId;
  EXPECT_THAT(
      unpacked(hex("00 01 01 03 04 05 fb 07 08 09 61 0b 21 0d 0e 00"), 0, id),
      ElementsAre("0;??; 00 01", "2;00; 03 04 05", "6;7d; 07 08 09", "10;30; 0b", "12;10; 0d 0e"));
}

TEST(Unpack, id_bytes_that_repeat_the_id_vanish_with_their_flags) {
  TraceId id = 0x10;
  unsigned overhead = 0;
  EXPECT_THAT(unpacked(hex("21 01 21 03 04 05 21 07 08 09 21 0b 20 0d 20 ff"), 0, id, &overhead),
              ElementsAre("0;10; 01 03 05 05 07 09 09 0b 21 0d 21"));
  EXPECT_EQ(overhead, 5U);
}

TEST(Unpack, id_in_byte_14_is_for_the_next_frame) {
  TraceId id = 0x10;
  EXPECT_THAT(unpacked(hex("00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 41 80"), 0, id),
              ElementsAre("0;10; 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d"));
  EXPECT_EQ(id, 0x20);
}

TEST(Unpack, last_segment_may_be_empty) {
  TraceId id = 0x20;
  const auto segments = unpacked(hex("6b 5f b2 5e 8c 13 f3 79 24 94 c4 d6 41 f0 01 5d"), 1968, id);
  ASSERT_FALSE(segments.empty());
  EXPECT_EQ(segments.back(), "1980;20;");
  EXPECT_EQ(id, 0);
}

TEST(Unpack, agrees_with_the_table_on_random_frames) {
  std::mt19937_64 random(1);
  TraceId id = kNoTraceId;
  TraceId table_id = kNoTraceId;
  for (int round = 0; round < 20000; ++round) {
    std::array<std::uint8_t, kFrameSize> bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    for (unsigned i = 0; i < 16; i += 2) {
      if (random() % 4 != 0) bytes[i] &= 0xFE;
      if (random() % 4 == 0) bytes[i] = static_cast<std::uint8_t>(id << 1 | 1);
    }
    Frame frame;
    unpack(bytes.data(), 16, id, frame);
    const Frame expected = unpack_by_the_table(bytes.data(), 16, table_id);
    ASSERT_EQ(frame.count, expected.count);
    for (unsigned i = 0; i < frame.count; ++i)
      ASSERT_EQ(line_of(frame.segments[i]), line_of(expected.segments[i]));
    ASSERT_EQ(id, table_id);
  }
}

TEST(Demux, options_that_exclude_each_other_are_refused) {
  EXPECT_TRUE(check(kAligned));
  EXPECT_TRUE(check(kHsyncsOnly));
  EXPECT_FALSE(check({.has_fsyncs = true}));
  EXPECT_FALSE(check({.has_hsyncs = true}));
}

TEST(Demux, alignment_by_mode) {
  EXPECT_EQ(kAligned.alignment(), 16U);
  EXPECT_EQ(kFsyncs.alignment(), 4U);
  EXPECT_EQ(kHsyncs.alignment(), 2U);
  EXPECT_EQ(kBare.alignment(), 16U);
}

TEST(Demux, feed_refuses_a_wrong_size) {
  const std::vector<std::uint8_t> bytes(18);
  for (const auto& [options, size, multiple] :
       {std::tuple{kAligned, 18U, 16}, std::tuple{kAlignedReset, 4U, 16},
        std::tuple{kFsyncs, 18U, 4}, std::tuple{kHsyncs, 17U, 2}}) {
    Demux demux(options);
    const auto result = demux.feed(7, Bytes(bytes).first(size));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(demux.error().fault, Fault::kInvalidBlock);
    EXPECT_EQ(demux.error().finding, Finding::kBlockSize);
    EXPECT_EQ(demux.error().number, multiple);
    EXPECT_EQ(demux.error().index, 7U);
    EXPECT_EQ(demux.consumed(), 0U);
  }
}

TEST(Demux, feed_refuses_a_gap_and_goes_on_with_the_right_index) {
  Demux demux(kAligned);
  ASSERT_TRUE(demux.feed(0, kFrameA));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_FALSE(demux.feed(32, kFrameB));
  EXPECT_EQ(demux.error().finding, Finding::kBlockNotContinuous);
  EXPECT_TRUE(demux.feed(16, kFrameB));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(line_of(demux.frame().segments[0]), "16;20; 0e 0f");
}

TEST(Demux, feed_refuses_nothing_and_a_second_block_at_once) {
  Demux demux(kAligned);
  EXPECT_FALSE(demux.feed(0, {}));
  ASSERT_TRUE(demux.feed(0, kFrameA));
  EXPECT_FALSE(demux.feed(16, kFrameB));
}

TEST(Demux, withdrawn_rest_is_given_again) {
  Demux demux(kAligned);
  const auto both = kFrameA + kFrameB;
  ASSERT_TRUE(demux.feed(0, both));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(demux.withdraw(), 16U);
  EXPECT_EQ(demux.step(), Step::kNeedInput);
  ASSERT_TRUE(demux.feed(16, Bytes(both).subspan(16)));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(demux.frame().segments[0].index, 16U);
}

TEST(Demux, reset_forgets_index_and_id_and_keeps_the_counts) {
  Demux demux(kAligned);
  ASSERT_TRUE(demux.feed(0, kFrameA));
  demux.step();
  demux.reset();
  EXPECT_EQ(demux.statistics().frame_bytes, 3U);
  ASSERT_TRUE(demux.feed(160, kFrameB));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(line_of(demux.frame().segments[0]), "160;??; 0e 0f");
}

TEST(Demux, aligned_frames_take_syncs_for_data_without_the_reset_option) {
  const auto sync = kFsyncBytes + kFsyncBytes;
  EXPECT_THAT(lines(kAligned, sync + sync), ElementsAre("0;??; ff", "0;7f; 7f ff 7f ff 7f ff"));
}

TEST(Demux, four_fsyncs_reset) {
  const auto sync = kFsyncBytes + kFsyncBytes + kFsyncBytes + kFsyncBytes;
  const Listing listing = list(kAlignedReset, kFrameA + sync + sync + kFrameB);
  EXPECT_THAT(listing.lines, ElementsAre(kSegmentA1, kSegmentA2, "reset", "48;??; 0e 0f",
                                         "50;30; 10 11 12 13 14 15 16 17", "58;10; 18 19 20"));
  EXPECT_EQ(listing.statistics.frame_bytes, 3U + 32 + 3);
  EXPECT_EQ(listing.statistics.unknown_id_bytes, 2U);
}

TEST(Demux, a_monitor_sees_a_bad_number_of_fsyncs_before_the_error) {
  struct Monitor final : RawMonitor {
    void on_raw_frame(RawKind kind, TraceIndex index, TraceId, Bytes bytes) override {
      if (kind == RawKind::kFsync) seen.emplace_back(index, bytes.size());
    }
    std::vector<std::pair<TraceIndex, std::size_t>> seen;
  } monitor;
  const auto bytes = kFrameA + kFsyncBytes + hex("00 00 00 00 00 00 00 00 00 00 00 00");
  Demux demux(kAlignedReset);
  demux.set_monitor(&monitor, false);
  ASSERT_TRUE(demux.feed(0, bytes));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(demux.step(), Step::kError);
  EXPECT_EQ(monitor.seen, (std::vector<std::pair<TraceIndex, std::size_t>>{{16, 4}}));
}

TEST(Demux, fsyncs_not_a_multiple_of_four_are_an_error) {
  const auto bytes = kFrameA + kFsyncBytes + hex("00 00 00 00 00 00 00 00 00 00 00 00") + kFrameA;
  Demux demux(kAlignedReset);
  ASSERT_TRUE(demux.feed(0, bytes));
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(demux.step(), Step::kError);
  EXPECT_EQ(demux.error().fault, Fault::kBadFrameSync);
  EXPECT_EQ(demux.error().finding, Finding::kFsyncRun);
  EXPECT_EQ(demux.error().index, 16U);
  EXPECT_EQ(demux.consumed(), 16U);
  EXPECT_EQ(demux.step(), Step::kNeedInput);
  demux.resync();
  EXPECT_EQ(demux.step(), Step::kSkipped);
  EXPECT_EQ(demux.error().index, 16U);
  EXPECT_EQ(demux.error().lost, 16U);
  EXPECT_EQ(demux.step(), Step::kFrame);
  EXPECT_EQ(demux.frame().segments[0].index, 32U);
}

TEST(Demux, first_fsync_is_searched_at_any_offset) {
  for (std::size_t junk = 0; junk < 9; ++junk) {
    auto bytes = std::vector<std::uint8_t>(junk, 0x11) + kFsyncBytes + kFrameA;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    const auto got = lines(kFsyncs, bytes);
    std::vector<std::string> expected;
    if (junk != 0) expected.push_back("skipped " + std::to_string(junk) + " from 0");
    expected.push_back(std::to_string(junk + 4) + std::string(kSegmentA1 + 1));
    expected.push_back(std::to_string(junk + 12) + std::string(kSegmentA2 + 1));
    EXPECT_EQ(got, expected) << junk;
  }
}

TEST(Demux, first_fsync_cut_by_blocks_of_two_bytes_at_an_odd_offset) {
  const auto bytes = hex("11 ff ff 22 ff ff ff ff 7f") + kFrameA + hex("00");
  for (std::size_t chunk = 2; chunk <= bytes.size(); chunk += 2) {
    EXPECT_THAT(
        list(kHsyncs, bytes, chunk).lines,
        ElementsAre("skipped 5 from 0", "9;10; 01 02 03 04 05 06 07", "17;20; 08 09 0a 0b 0c 0d"))
        << chunk;
  }
}

TEST(Demux, bytes_still_searched_are_held) {
  Demux demux(kFsyncs);
  const auto bytes = hex("01 02 03 04 05 ff ff ff");
  ASSERT_TRUE(demux.feed(0, bytes));
  EXPECT_EQ(demux.step(), Step::kNeedInput);
  EXPECT_EQ(demux.consumed(), 8U);
  EXPECT_EQ(demux.held(), 8U);
}

TEST(Demux, halfsyncs_are_taken_out_and_not_counted_in_the_index) {
  const auto bytes = hex("ff ff ff 7f 21 01 02 03 ff 7f 41 04 04 06 06 08 ff 7f 08 0a 21 0b 0c 78");
  const Listing listing = list(kHsyncs, bytes);
  EXPECT_THAT(listing.lines,
              ElementsAre("4;10; 01 02 03", "8;20; 04 05 06 07 08 09 0a 0b", "16;10; 0c"));
  EXPECT_EQ(listing.statistics.frame_bytes, 4U + 2 * 2 + 4);
  EXPECT_EQ(listing.statistics.total(), bytes.size());
}

TEST(Demux, fsync_cut_in_the_middle_by_the_end_of_a_block) {
  const auto bytes = kFsyncBytes + kFrameA + kFsyncBytes + kFrameA;
  EXPECT_EQ(list(kHsyncs, bytes, 22), list(kHsyncs, bytes));
  EXPECT_EQ(lines(kHsyncs, bytes).size(), 4U);
}

TEST(Demux, second_half_of_an_fsync_missing) {
  const auto bytes = kFsyncBytes + kFrameA + hex("ff ff 00 00") + kFsyncBytes + kFrameA;
  EXPECT_THAT(
      list(kHsyncs, bytes, 22).lines,
      ElementsAre(
          "4;10; 01 02 03 04 05 06 07", "12;20; 08 09 0a 0b 0c 0d",
          "error at 22: Half a frame sync comes before a frame, or the frame has the reserved "
          "trace ID 0x7F.",
          "skipped 4 from 20", "28;10; 01 02 03 04 05 06 07", "36;20; 08 09 0a 0b 0c 0d"));
  EXPECT_EQ(list(kHsyncs, bytes).lines[2],
            "error at 20: A frame sync begins inside a frame, or the frame has the reserved trace "
            "ID 0x7F.");
}

TEST(Demux, fsync_inside_a_frame_is_an_error_and_a_place_to_go_on) {
  const auto bytes = kFsyncBytes + hex("21 01 02 03") + kFsyncBytes + kFrameA;
  EXPECT_THAT(lines(kFsyncs, bytes), ElementsAre("error at 0: A frame sync begins inside a frame, "
                                                 "or the frame has the reserved trace ID 0x7F.",
                                                 "skipped 4 from 4", "12;10; 01 02 03 04 05 06 07",
                                                 "20;20; 08 09 0a 0b 0c 0d"));
}

TEST(Demux, first_half_of_an_fsync_in_the_last_pair_of_a_frame) {
  auto frame = kFrameA;
  frame[14] = frame[15] = 0xFF;
  EXPECT_THAT(lines(kFsyncs, kFsyncBytes + frame),
              ElementsAre("error at 0: A frame sync begins inside a frame, or the frame has the "
                          "reserved trace ID 0x7F."));
}

TEST(Demux, halfsync_where_none_may_be) {
  const auto bytes = kFsyncBytes + hex("21 01 ff 7f") + kFrameA;
  Demux demux(kFsyncs);
  ASSERT_TRUE(demux.feed(100, bytes));
  EXPECT_EQ(demux.step(), Step::kError);
  EXPECT_EQ(demux.error().finding, Finding::kHsyncInFrame);
  EXPECT_EQ(demux.error().index, 100U);
  EXPECT_EQ(demux.consumed(), 0U);
  EXPECT_FALSE(demux.feed(124, kFrameA));
}

TEST(Demux, syncs_before_an_error_count_unless_the_quirk_is_on) {
  const auto bytes = kFsyncBytes + kFrameA + kFsyncBytes + kFsyncBytes + hex("21 01 ff 7f");
  for (const bool uncounted : {false, true}) {
    Demux demux(kFsyncs, {.failed_pass_uncounted = uncounted});
    ASSERT_TRUE(demux.feed(0, bytes));
    EXPECT_EQ(demux.step(), Step::kFrame);
    const std::uint64_t before = demux.statistics().frame_bytes;
    EXPECT_EQ(demux.step(), Step::kError);
    EXPECT_EQ(demux.statistics().frame_bytes - before, uncounted ? 0U : 8U);
  }
}

TEST(Demux, frames_without_syncs_go_on_after_damage_at_the_next_frame) {
  auto damaged = kFrameA;
  damaged[4] = 0xFF;
  damaged[5] = 0xFF;
  EXPECT_THAT(lines(kBare, damaged + kFrameB),
              ElementsAre("error at 0: A frame sync begins inside a frame, or the frame has the "
                          "reserved trace ID 0x7F.",
                          "skipped 16 from 0", "16;??; 0e 0f", "18;30; 10 11 12 13 14 15 16 17",
                          "26;10; 18 19 20"));
}

TEST(Demux, fsync_after_halfsync_is_accepted_unless_the_quirk_is_on) {
  const auto bytes = kFsyncBytes + kFrameA + hex("ff 7f") + kFsyncBytes + kFrameB;
  EXPECT_THAT(lines(kHsyncs, bytes)[2], "26;20; 0e 0f");
  const Quirks quirks{.fsync_after_hsync_fails = true};
  EXPECT_EQ(list(kHsyncs, bytes, bytes.size(), quirks).lines[2],
            "error at 20: A frame sync begins inside a frame, or the frame has the reserved trace "
            "ID 0x7F.");
  EXPECT_EQ(list(kHsyncs, bytes, 22, quirks).lines[2], "26;20; 0e 0f");
}

TEST(Demux, halfsync_before_a_frame_counts_after_the_end_of_a_block_with_the_quirk) {
  const auto bytes = kFsyncBytes + kFrameA + hex("ff 7f") + kFrameB;
  EXPECT_EQ(list(kHsyncs, bytes, 22).lines[2], "20;20; 0e 0f");
  const Quirks quirks{.block_end_moves_index = true};
  EXPECT_EQ(list(kHsyncs, bytes, 22, quirks).lines[2], "22;20; 0e 0f");
  EXPECT_EQ(list(kHsyncs, bytes, bytes.size(), quirks).lines[2], "20;20; 0e 0f");
}

TEST(Demux, packed_output_is_by_pass_with_its_syncs) {
  Demux demux(kHsyncs);
  TextMonitor monitor;
  demux.set_monitor(&monitor, true);
  const auto bytes = kFsyncBytes + kFrameA + kFrameB;
  write_raw(demux, monitor, 0, Bytes(bytes).first(32));
  write_raw(demux, monitor, 32, Bytes(bytes).subspan(32));
  EXPECT_EQ(monitor.text.view(),
            "Frame Data; Index      0;    RAW_PACKED; ff ff ff 7f 21 01 02 03 04 05 06 07 41 08 08 "
            "0a \n0a 0c 0c e0 \n"
            "Frame Data; Index      4;   ID_DATA[0x10]; 01 02 03 04 05 06 07 \n"
            "Frame Data; Index     12;   ID_DATA[0x20]; 08 09 0a 0b 0c 0d \n"
            "Frame Data; Index     20;    RAW_PACKED; 0e 0f 61 10 10 12 12 14 14 16 21 17 \n"
            "Frame Data; Index     32;    RAW_PACKED; 18 19 20 3c \n"
            "Frame Data; Index     20;   ID_DATA[0x20]; 0e 0f \n"
            "Frame Data; Index     22;   ID_DATA[0x30]; 10 11 12 13 14 15 16 17 \n"
            "Frame Data; Index     30;   ID_DATA[0x10]; 18 19 20 \n");
}

TEST(Demux, reset_fsyncs_are_shown_alone_and_with_the_frame) {
  const auto sync = kFsyncBytes + kFsyncBytes + kFsyncBytes + kFsyncBytes;
  for (const bool packed : {false, true}) {
    Demux demux(kAlignedReset);
    TextMonitor monitor;
    demux.set_monitor(&monitor, packed);
    write_raw(demux, monitor, 0, sync + kFrameA);
    const std::string fsync =
        "Frame Data; Index      0;         FSYNC; ff ff ff 7f ff ff ff 7f ff "
        "ff ff 7f ff ff ff 7f \n";
    const std::string pass =
        "Frame Data; Index      0;    RAW_PACKED; ff ff ff 7f ff ff ff 7f ff "
        "ff ff 7f ff ff ff 7f \n21 01 02 03 04 05 06 07 41 08 08 0a 0a 0c 0c "
        "e0 \n";
    const std::string data =
        "Frame Data; Index     16;   ID_DATA[0x10]; 01 02 03 04 05 06 07 \n"
        "Frame Data; Index     24;   ID_DATA[0x20]; 08 09 0a 0b 0c 0d \n";
    std::string expected = fsync;
    if (packed) expected += pass;
    expected += data;
    EXPECT_EQ(monitor.text.view(), expected);
  }
}

TEST(Demux, packed_output_has_the_whole_of_a_first_fsync_that_was_cut) {
  Demux demux(kHsyncs);
  TextMonitor monitor;
  demux.set_monitor(&monitor, true);
  const auto bytes = hex("11 22 ff ff ff 7f 21 01");
  write_raw(demux, monitor, 0, Bytes(bytes).first(4));
  write_raw(demux, monitor, 4, Bytes(bytes).subspan(4));
  EXPECT_EQ(monitor.text.view(), "Frame Data; Index      2;    RAW_PACKED; ff ff ff 7f 21 01 \n");
}

// Bytes with many ID bytes and, if the mode has them, syncs at random places.
std::vector<std::uint8_t> noise(std::mt19937_64& random, const Options& options) {
  std::vector<std::uint8_t> bytes;
  const unsigned damage = random() % 3 == 0 ? 8 : 200;
  while (bytes.size() < 1000) {
    if (options.has_fsyncs && random() % 3 == 0)
      bytes.insert(bytes.end(), kFsyncBytes.begin(), kFsyncBytes.end());
    if (options.reset_on_4x_fsync && random() % 4 == 0) {
      const unsigned count = random() % damage == 0 ? 3 : 4;
      for (unsigned i = 0; i < count; ++i)
        bytes.insert(bytes.end(), kFsyncBytes.begin(), kFsyncBytes.end());
    }
    for (int pair = 0; pair < 8; ++pair) {
      if (options.has_hsyncs && random() % 8 == 0) bytes.insert(bytes.end(), {0xFF, 0x7F});
      bytes.push_back(
          static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 6 : random() & 0xFE));
      bytes.push_back(static_cast<std::uint8_t>(random()));
      if (random() % (damage * 8) == 0) bytes.push_back(0xFF);
      if (random() % (damage * 8) == 0) bytes.insert(bytes.end(), {0xFF, 0xFF});
    }
  }
  return bytes;
}

TEST(Demux, any_blocks_give_the_same_frames_and_each_byte_counts_once) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    for (const Options& options : {kAligned, kAlignedReset, kFsyncs, kHsyncs, kHsyncsOnly, kBare}) {
      const auto bytes = noise(random, options);
      Listing whole = list(options, bytes);
      const std::size_t used = bytes.size() / options.alignment() * options.alignment();
      ASSERT_EQ(whole.statistics.total() + whole.lost + whole.held, used);
      // The wording and place of an error, and the number of resets, depend on the blocks.
      const auto tidy = [](Listing& listing) {
        std::erase_if(listing.lines, [](const std::string& line) {
          return line == "reset" || line.starts_with("error") || line.starts_with("skipped");
        });
      };
      const bool resets = options.reset_on_4x_fsync;
      tidy(whole);
      for (const std::size_t factor : {1U, 2U, 3U, 7U, 16U}) {
        Listing cut = list(options, bytes, factor * options.alignment());
        ASSERT_EQ(cut.statistics.total() + cut.lost + cut.held, used);
        tidy(cut);
        // A cut may also turn a bad run of FSYNCs into a good one and a bad one.
        if (resets && whole.lost != cut.lost) continue;
        ASSERT_EQ(cut, whole) << "blocks of " << factor * options.alignment() << " bytes";
      }
    }
  }
}

TEST(Demux, random_bytes_are_survived) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint8_t> bytes(random() % 400 / 16 * 16 + 16);
    for (auto& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
      if (random() % 2 == 0) byte = random() % 3 == 0 ? 0x7F : 0xFF;
    }
    for (const Options& options : {kAligned, kAlignedReset, kFsyncs, kHsyncs, kHsyncsOnly, kBare}) {
      const Listing listing = list(options, bytes, 32);
      ASSERT_EQ(listing.statistics.total() + listing.lost + listing.held, bytes.size());
    }
  }
}

}  // namespace
}  // namespace waymark::frames
