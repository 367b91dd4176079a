#include "waymark/syst/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "waymark/syst/byte_reader.h"

namespace waymark::syst {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines(std::string_view text, std::size_t chunk = 0) {
  return split<LineReader>(as_bytes(text), chunk);
}

TEST(SystLines, the_tag_may_be_anywhere) {
  EXPECT_THAT(lines("Booting from ROM..SYS-T RAW DATA: 0102\r\n[info] SYS-T RAW DATA:0A0b"),
              ElementsAre("18 whole 0102", "47 whole 0a0b"));
}

TEST(SystLines, several_in_a_line_and_none_between) {
  EXPECT_THAT(lines("SYS-T RAW DATA: 01SYS-T RAW DATA: 02 SYS-T RAW DATA: 03"),
              ElementsAre("0 whole 01", "18 whole 02", "37 whole 03"));
}

TEST(SystLines, a_tag_within_the_beginning_of_another) {
  EXPECT_THAT(lines("SYS-T RAW SYSYS-T RAW DATA: 01 SSYS-T RAW DATA: 02"),
              ElementsAre("12 whole 01", "32 whole 02"));
}

TEST(SystLines, colours_do_not_end_a_line) {
  EXPECT_THAT(lines("\x1B[32mSYS-T RAW DATA: 01\x1B[0m02\x1B[1;31mAB\x1B[0m\n"),
              ElementsAre("5 whole 0102ab"));
}

TEST(SystLines, a_lost_digit_is_reported) {
  EXPECT_THAT(lines("SYS-T RAW DATA: 010\nSYS-T RAW DATA: 02\n"),
              ElementsAre("0 bad_text 01", "20 whole 02"));
}

TEST(SystLines, binary_between_does_no_harm) {
  EXPECT_THAT(lines(std::string_view("\0\xFF\x80SSSSYS-T RAW DATA: 01\0\xFF", 24)),
              ElementsAre("6 whole 01"));
}

TEST(SystLines, a_line_without_end_is_cut) {
  const std::string text =
      "SYS-T RAW DATA: " + std::string(3 * kMaxMessage, 'A') + "\n" + "SYS-T RAW DATA: 01\n";
  const auto found = lines(text);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with("0 too_long aaaa"));
  EXPECT_EQ(found[0].size(), 11 + 2 * kMaxMessage);
  EXPECT_TRUE(found[1].ends_with("whole 01"));
}

TEST(SystLines, chunks_make_no_difference) {
  constexpr std::string_view kText =
      "x SYSYS-T RAW DATA: 01\x1B[0m02\r\nSYS-T RAW DATA: 0\nnoise\nSYS-T RAW DATA: \nSYS-T RAW "
      "DATA: 0304";
  const auto whole = lines(kText);
  EXPECT_EQ(whole.size(), 4U);
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U})
    EXPECT_EQ(lines(kText, chunk), whole) << chunk;
}

TEST(SystByteReader, finds_out_what_bytes_are) {
  const auto form = [](Bytes bytes) {
    ByteReader reader;
    reader.feed(bytes);
    Frame frame;
    while (reader.next(frame)) {
    }
    while (reader.finish(frame)) {
    }
    return *reader.form();
  };
  EXPECT_EQ(form(as_bytes("log\nSYS-T RAW DATA: 01\n")), ByteForm::kLines);
  EXPECT_EQ(form(hex("42 52 41 01 02 00 61 00  71 56 34 12")), ByteForm::kPlain);
  EXPECT_EQ(form(as_bytes("nothing of interest at all")), ByteForm::kLines);
  EXPECT_EQ(form(std::vector<std::uint8_t>(100)), ByteForm::kLines);
}

TEST(SystLines, an_escape_sequence_that_does_not_end_costs_no_message) {
  const std::string one = "SYS-T RAW DATA: 0102";
  for (const std::string& text :
       {one + "\x1B[\nSYS-T RAW DATA: 0304\n", one + "\x1B" + "SYS-T RAW DATA: 0304\n",
        one + "\x1B[31\xFF" + "SYS-T RAW DATA: 0304\n",
        one + "\x1B[" + std::string(1000, '1') + "SYS-T RAW DATA: 0304\n"}) {
    const auto frames = split<LineReader>(as_bytes(text), 0);
    ASSERT_EQ(frames.size(), 2U) << text;
    EXPECT_TRUE(frames[0].ends_with(" whole 0102"));
    EXPECT_TRUE(frames[1].ends_with(" whole 0304"));
    EXPECT_EQ(split<LineReader>(as_bytes(text), 1), frames);
  }
}

TEST(SystByteReader, a_long_first_message_is_not_taken_for_text) {
  std::vector<std::uint8_t> bytes = hex("42520101FFFF");
  bytes.insert(bytes.end(), 65534, 'A');
  const auto rest = hex("00425241010300616100425241010300626200");
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  EXPECT_EQ(split<ByteReader>(bytes, 0).size(), 3U);
  EXPECT_EQ(split<ByteReader>(bytes, 1000).size(), 3U);
}

}  // namespace
}  // namespace waymark::syst
