#include "waymark/frames/mux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "frames/hex.h"
#include "frames/listing.h"

namespace waymark::frames {
namespace {

using testing::ElementsAre;

using Streams = std::map<TraceId, std::vector<std::uint8_t>>;

Streams demultiplexed(const Options& options, const std::vector<std::uint8_t>& bytes) {
  Streams streams;
  Demux demux(options);
  EXPECT_TRUE(demux.feed(0, bytes));
  for (Step step = demux.step(); step != Step::kNeedInput; step = demux.step()) {
    EXPECT_EQ(step, Step::kFrame);
    if (step != Step::kFrame) break;
    for (const Segment& segment : demux.frame().view()) {
      auto& stream = streams[segment.id];
      stream.insert(stream.end(), segment.bytes().begin(), segment.bytes().end());
    }
  }
  EXPECT_EQ(demux.held(), 0U);
  streams.erase(0);
  return streams;
}

TEST(Mux, change_at_an_odd_place_is_delayed) {
  Mux mux;
  ASSERT_TRUE(mux.write(0x10, hex("01 02 03 05")));
  ASSERT_TRUE(mux.write(0x20, hex("06")));
  mux.finish();
  // The 05 moved past the ID byte 41, and the 06 past the ID of the padding.
  EXPECT_EQ(mux.bytes(), hex("21 01 02 03 41 05 01 06 00 00 00 00 00 00 00 0c"));
}

TEST(Mux, without_delayed_changes_the_old_id_is_repeated) {
  Mux mux({.delayed_id_changes = false});
  ASSERT_TRUE(mux.write(0x10, hex("01 02 03 05")));
  ASSERT_TRUE(mux.write(0x20, hex("06")));
  mux.finish();
  EXPECT_EQ(mux.bytes(), hex("21 01 02 03 21 05 41 06 01 00 00 00 00 00 00 00"));
}

TEST(Mux, the_id_is_repeated_after_eight_frames) {
  Mux mux;
  ASSERT_TRUE(mux.write(0x10, std::vector<std::uint8_t>(200)));
  ASSERT_GE(mux.bytes().size(), 160U);
  for (std::size_t frame = 0; frame < 10; ++frame)
    EXPECT_EQ(mux.bytes()[frame * 16], frame % 9 == 0 ? 0x21 : 0x00);
}

TEST(Mux, ids_that_look_like_syncs_are_refused) {
  Mux mux;
  EXPECT_FALSE(mux.write(0x7F, hex("00")));
  EXPECT_FALSE(mux.write(0x80, hex("00")));
  EXPECT_TRUE(mux.write(kNoTraceId, hex("00")));
  EXPECT_TRUE(mux.write(0x7E, hex("00")));
  EXPECT_FALSE(mux.write(kNoTraceId, hex("00")));
}

TEST(Mux, bytes_before_the_first_id_and_a_reset) {
  Mux mux;
  ASSERT_TRUE(mux.write(kNoTraceId, hex("01 02 03")));
  ASSERT_TRUE(mux.write(0x10, hex("04")));
  mux.append_reset();
  ASSERT_TRUE(mux.write(0x20, std::vector<std::uint8_t>(14)));
  const Listing listing = list(MuxOptions{}.demux_options(true), mux.bytes());
  EXPECT_THAT(listing.lines,
              ElementsAre("0;??; 01 02 03", "2;10; 04", "4;00; 00 00 00 00 00 00 00 00 00", "reset",
                          "32;20; 00 00 00 00 00 00 00 00 00 00 00 00 00 00"));
}

TEST(Mux, take_hands_over_whole_frames) {
  Mux mux;
  ASSERT_TRUE(mux.write(0x10, std::vector<std::uint8_t>(20)));
  EXPECT_EQ(mux.take().size(), 16U);
  EXPECT_TRUE(mux.bytes().empty());
  mux.finish();
  EXPECT_EQ(mux.take().size(), 16U);
}

TEST(Mux, demultiplexing_gives_back_what_was_written) {
  std::mt19937_64 random(4);
  for (const unsigned fsync : {0U, 1U, 3U}) {
    for (const unsigned hsync : {0U, 1U, 5U}) {
      if (fsync == 0 && hsync != 0) continue;
      for (const bool delayed : {false, true}) {
        for (int round = 0; round < 30; ++round) {
          const MuxOptions options{.fsync_period = fsync,
                                   .hsync_period = hsync,
                                   .delayed_id_changes = delayed,
                                   .id_repeat = static_cast<unsigned>(random() % 10)};
          Mux mux(options);
          Streams written;
          for (int write = 0; write < 100; ++write) {
            const auto id = static_cast<TraceId>(1 + random() % (round % 2 == 0 ? 3 : 0x7D));
            std::vector<std::uint8_t> bytes(random() % (write % 10 == 0 ? 400 : 6));
            for (auto& byte : bytes)
              byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xFF : random());
            ASSERT_TRUE(mux.write(id, bytes));
            if (!bytes.empty()) written[id] = written[id] + bytes;
          }
          mux.finish();
          ASSERT_EQ(demultiplexed(options.demux_options(), mux.bytes()), written);
        }
      }
    }
  }
}

}  // namespace
}  // namespace waymark::frames
