#include "waymark/base/number.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

TEST(Number, decimal_or_hexadecimal_after_0x) {
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("42"), 42U);
  EXPECT_EQ(parse_number("0x2A"), 42U);
  EXPECT_EQ(parse_number("0X2a"), 42U);
  EXPECT_EQ(parse_number("010"), 10U);
  EXPECT_EQ(parse_number("ff", 16), 255U);
  EXPECT_EQ(parse_number("0xff", 16), 255U);
}

TEST(Number, sixty_four_bits_and_no_more) {
  EXPECT_EQ(parse_number("18446744073709551615"), ~0ULL);
  EXPECT_EQ(parse_number("0xffffffffffffffff"), ~0ULL);
  EXPECT_EQ(parse_number("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number("0x10000000000000000"), std::nullopt);
}

TEST(Number, anything_else_is_none) {
  for (const char* const text : {"", "0x", "x", "-1", "+1", " 1", "1 ", "12a", "0x1g", "0x-1"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Number, decimal_with_a_fraction_and_an_exponent) {
  EXPECT_EQ(parse_decimal("0"), 0.0);
  EXPECT_EQ(parse_decimal("2.5"), 2.5);
  EXPECT_EQ(parse_decimal("-.5"), -0.5);
  EXPECT_EQ(parse_decimal("1e6"), 1e6);
  EXPECT_EQ(parse_decimal("25E-1"), 2.5);
  EXPECT_EQ(parse_decimal("18446744073709551615"), 18446744073709551616.0);
}

TEST(Number, any_other_decimal_is_none) {
  for (const char* const text :
       {"", "+1", " 1", "1 ", "1.2.3", "1e", "1e999", "-", ".", "0x10", "nan", "inf", "1,5", "1k"})
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
}

TEST(Number, a_size_has_a_unit_of_1024) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("0x1000"), 4096U);
  EXPECT_EQ(parse_size("0x1B"), 27U);
  EXPECT_EQ(parse_size("12B"), 12U);
  for (const char* const text : {"2M", "2m", "2MB", "2MiB", "2mib"})
    EXPECT_EQ(parse_size(text), std::uint64_t{2} << 20) << text;
  EXPECT_EQ(parse_size("3K"), 3072U);
  EXPECT_EQ(parse_size("1G"), std::uint64_t{1} << 30);
  EXPECT_EQ(parse_size("16777215TiB"), std::uint64_t{16777215} << 40);
}

TEST(Number, any_other_size_is_none) {
  for (const char* const text :
       {"", "M", "1 M", "1P", "1KK", "1Mi", "1.5M", "-1", "0x", "16777216T", "1MBit"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Number, a_frequency_has_a_unit_of_1000) {
  EXPECT_EQ(parse_frequency("16 MHz"), 16e6);
  EXPECT_EQ(parse_frequency("2.5M"), 2.5e6);
  EXPECT_EQ(parse_frequency("115200"), 115200);
  EXPECT_EQ(parse_frequency("1e6Hz"), 1e6);
  EXPECT_EQ(parse_frequency("32.768khz"), 32768);
  EXPECT_EQ(parse_frequency("1g"), 1e9);
  for (const char* const text : {"", "0", "-1", "nan", "1 parsec", "1001GHz", "MHz"})
    EXPECT_EQ(parse_frequency(text), std::nullopt) << text;
}

TEST(Number, a_time_may_come_after_its_letter) {
  EXPECT_EQ(parse_time("8123456"), 8123456U);
  EXPECT_EQ(parse_time("t:8123456"), 8123456U);
  EXPECT_EQ(parse_time("t:0x10"), 16U);
  for (const char* const text : {"", "t:", "t:t:1", "s:1", "t:-1", "t: 1"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

TEST(Number, a_duration_is_in_seconds) {
  EXPECT_EQ(parse_duration("2"), 2);
  EXPECT_EQ(parse_duration("0.5"), 0.5);
  EXPECT_EQ(parse_duration("250ms"), 0.25);
  EXPECT_EQ(parse_duration("10 s"), 10);
  EXPECT_EQ(parse_duration("2min"), 120);
  EXPECT_EQ(parse_duration("1h"), 3600);
  for (const char* const text : {"", "-1", "1d", "s", "1e10", "nan"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

}  // namespace
}  // namespace waymark
