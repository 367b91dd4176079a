#include "waymark/frames/text.h"

#include <gtest/gtest.h>

#include "frames/hex.h"

namespace waymark::frames {
namespace {

std::string raw(RawKind kind, TraceIndex index, TraceId id, const std::string& bytes) {
  TextBuffer out;
  write_raw_frame(out, kind, index, id, hex(bytes));
  return std::string(out.view());
}

TEST(FrameText, each_kind_has_its_tag) {
  EXPECT_EQ(raw(RawKind::kPacked, 36, 0, "ff 0a"),
            "Frame Data; Index     36;    RAW_PACKED; ff 0a \n");
  EXPECT_EQ(raw(RawKind::kHsync, 0, 0, "ff 7f"),
            "Frame Data; Index      0;         HSYNC; ff 7f \n");
  EXPECT_EQ(raw(RawKind::kFsync, 0, 0, "ff"), "Frame Data; Index      0;         FSYNC; ff \n");
  EXPECT_EQ(raw(RawKind::kIdData, 4, 1, "00"), "Frame Data; Index      4;   ID_DATA[0x01]; 00 \n");
  EXPECT_EQ(raw(RawKind::kIdData, 32, kNoTraceId, "0e"),
            "Frame Data; Index     32;   ID_DATA[????]; 0e \n");
}

TEST(FrameText, no_bytes_and_a_long_index) {
  EXPECT_EQ(raw(RawKind::kIdData, 123456789, 0x20, ""),
            "Frame Data; Index123456789;   ID_DATA[0x20]; \n");
}

TEST(FrameText, lines_break_after_16_bytes_only_where_more_follow) {
  const std::string line = "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f ";
  const std::string head = "Frame Data; Index      0;    RAW_PACKED; ";
  EXPECT_EQ(raw(RawKind::kPacked, 0, 0, line), head + line + "\n");
  EXPECT_EQ(raw(RawKind::kPacked, 0, 0, line + "10"), head + line + "\n10 \n");
}

TEST(FrameText, statistics) {
  TextBuffer out;
  write_statistics(out, {.valid_id_bytes = 34371, .reserved_id_bytes = 2104, .frame_bytes = 11897});
  EXPECT_EQ(out.view(),
            "\nFrame Demux Stats\n"
            "Trace data bytes sent to registered ID decoders: 34371\n"
            "Trace data bytes without registered ID decoders: 0\n"
            "Trace data bytes with unknown ID: 0\n"
            "Trace data bytes with reserved ID: 2104\n"
            "Frame demux bytes, ID bytes and sync bytes: 11897\n"
            "Total bytes processed by frame demux: 48372\n\n");
}

TEST(FrameText, dstream_footer_digits_are_not_padded) {
  TextBuffer out;
  write_dstream_footer(out, hex("00 00 00 00 7e 00 fe 0f"));
  EXPECT_EQ(out.view(), "DSTREAM footer [0x0 0x0 0x0 0x0 0x7e 0x0 0xfe 0xf ]\n");
}

}  // namespace
}  // namespace waymark::frames
