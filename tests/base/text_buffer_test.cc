#include "waymark/base/text_buffer.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

std::string hex(std::uint64_t value, unsigned digits) {
  TextBuffer out;
  out.hex(value, digits);
  return std::string(out.view());
}

std::string dec(std::uint64_t value) {
  TextBuffer out;
  out.dec(value);
  return std::string(out.view());
}

TEST(TextBuffer, decimal_has_no_padding) {
  for (const std::uint64_t value : {0ULL, 7ULL, 10ULL, 99ULL, 100ULL, 1234ULL, 98765ULL, ~0ULL})
    EXPECT_EQ(dec(value), std::to_string(value));
}

TEST(TextBuffer, hexadecimal_pads_with_zeros_up_to_the_digits_asked_for) {
  EXPECT_EQ(hex(0, 1), "0");
  EXPECT_EQ(hex(0xAB, 1), "ab");
  EXPECT_EQ(hex(0xABC, 2), "abc");
  EXPECT_EQ(hex(0xABC, 8), "00000abc");
  EXPECT_EQ(hex(~0ULL, 16), "ffffffffffffffff");
}

TEST(TextBuffer, upper_case_hexadecimal_for_address_text) {
  TextBuffer out;
  out.hex_upper(0xdeadbeef, 4);
  EXPECT_EQ(out.view(), "DEADBEEF");
}

TEST(TextBuffer, right_aligns) {
  TextBuffer out;
  out.put("first\n");
  out.right("42", 5);
  out.right("longer", 5);
  EXPECT_EQ(out.view(), "first\n   42longer");
}

TEST(TextBuffer, an_empty_view_without_data_is_text_too) {
  TextBuffer text;
  text.put(std::string_view{});
  EXPECT_EQ(text.view(), "");
  text.put("a");
  text.put(std::string_view{});
  EXPECT_EQ(text.view(), "a");
}

TEST(TextBuffer, growth_keeps_the_text) {
  TextBuffer out;
  for (int i = 0; i < 1000; ++i) out.put("0123456789");
  EXPECT_EQ(out.size(), 10000U);
  EXPECT_EQ(out.view().substr(9990), "0123456789");
}

}  // namespace
}  // namespace waymark
