#include "waymark/etm4x/sysfs_text.h"

#include <gtest/gtest.h>

namespace waymark::etm4x {
namespace {

using namespace std::literals;

constexpr auto kBad = std::unexpected(Errno::kInval);
constexpr auto kTooLarge = std::unexpected(Errno::kRange);

TEST(StrictNumber, base_16_with_and_without_prefix) {
  EXPECT_EQ(strict_number("12", 16), 0x12);
  EXPECT_EQ(strict_number("0x12", 16), 0x12);
  EXPECT_EQ(strict_number("0X1f\n", 16), 0x1F);
  EXPECT_EQ(strict_number("+fF", 16), 0xFF);
  EXPECT_EQ(strict_number("+0xff", 16), 0xFF);
  EXPECT_EQ(strict_number("ffffffffffffffff", 16), ~0ULL);
  EXPECT_EQ(strict_number("000000000000000000001", 16), 1);
}

TEST(StrictNumber, anything_else_is_refused) {
  for (const char* const text : {"", "\n", "0x", "0x\n", " 1", "1 ", "1\n\n", "-1", "+-1", "++1",
                                 "g", "1g", "1,2", "0x0x1", "+"}) {
    EXPECT_EQ(strict_number(text, 16), kBad) << text;
  }
}

TEST(StrictNumber, more_than_64_bits_wins_over_what_follows) {
  EXPECT_EQ(strict_number("10000000000000000", 16), kTooLarge);
  EXPECT_EQ(strict_number("10000000000000000zz", 16), kTooLarge);
  EXPECT_EQ(strict_number("18446744073709551616", 10), kTooLarge);
  EXPECT_EQ(strict_number("18446744073709551615", 10), ~0ULL);
}

TEST(StrictNumber, base_0_detects_hexadecimal_octal_and_decimal) {
  EXPECT_EQ(strict_number("0x1f", 0), 0x1F);
  EXPECT_EQ(strict_number("017", 0), 017);
  EXPECT_EQ(strict_number("17", 0), 17);
  EXPECT_EQ(strict_number("0\n", 0), 0);
  EXPECT_EQ(strict_number("08", 0), kBad);
  EXPECT_EQ(strict_number("0x", 0), kBad);
  EXPECT_EQ(strict_number("1f", 0), kBad);
}

TEST(StrictNumber, base_10_takes_no_prefix) {
  EXPECT_EQ(strict_number("10", 10), 10);
  EXPECT_EQ(strict_number("0x1", 10), kBad);
}

TEST(StrictNumber, text_ends_at_nul) {
  EXPECT_EQ(strict_number("1\0zz"sv, 16), 1);
  EXPECT_EQ(strict_number("\0"sv, 16), kBad);
}

TEST(ScanHex, blanks_between_and_rest_ignored) {
  const auto scanned = scan_hex(" \t\n1000  0x2000\n1 junk", 3);
  EXPECT_EQ(scanned.count, 3);
  EXPECT_EQ(scanned.value, (std::array<std::uint64_t, 3>{0x1000, 0x2000, 1}));
}

TEST(ScanHex, stops_where_the_number_ends) {
  EXPECT_EQ(scan_hex("1,2", 3).count, 1);
  EXPECT_EQ(scan_hex("1 -2", 3).count, 1);
  EXPECT_EQ(scan_hex("1 +2", 3).count, 1);
  EXPECT_EQ(scan_hex("", 3).count, 0);
  EXPECT_EQ(scan_hex("zz", 3).count, 0);
  EXPECT_EQ(scan_hex("1 2 3", 2).count, 2);
}

TEST(ScanHex, more_than_64_bits_wrap) {
  EXPECT_EQ(scan_hex("1ffffffffffffffff", 1).value[0], ~0ULL);
}

TEST(FirstWord, is_the_text_between_blanks) {
  EXPECT_EQ(first_word(" ctxid vmid\n"), "ctxid");
  EXPECT_EQ(first_word("all"), "all");
  EXPECT_EQ(first_word(" \n"), "");
}

TEST(BooleanWord, kernel_words) {
  for (const char* const word : {"1", "y", "Yes", "t", "on", "ON\n"})
    EXPECT_EQ(boolean_word(word), true);
  for (const char* const word : {"0", "n", "No", "f", "off", "OF"})
    EXPECT_EQ(boolean_word(word), false);
  for (const char* const word : {"", "2", "o", "x"}) EXPECT_EQ(boolean_word(word), kBad) << word;
}

TEST(Lines, end_in_a_newline) {
  EXPECT_EQ(hex_line(0), "0x0\n");
  EXPECT_EQ(hex_line(0xABC), "0xabc\n");
  EXPECT_EQ(decimal_line(-1), "-1\n");
}

}  // namespace
}  // namespace waymark::etm4x
