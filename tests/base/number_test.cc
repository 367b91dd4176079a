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

}  // namespace
}  // namespace waymark
