#include "waymark/inputs/ini.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::inputs {
namespace {

std::vector<IniLine> lines(std::string_view text) {
  std::vector<IniLine> out;
  IniReader reader(text);
  while (const auto line = reader.next()) out.push_back(*line);
  return out;
}

IniLine only_line(std::string_view text) {
  const std::vector<IniLine> all = lines(text);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? IniLine{} : all[0];
}

TEST(Ini, entries_carry_their_line_number) {
  const auto all = lines("; comment\n\n[a]\n \t\nkey = value \n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].number, 3U);
  EXPECT_EQ(all[1].number, 5U);
  EXPECT_EQ(all[1].key, "key");
  EXPECT_EQ(all[1].value, "value");
}

TEST(Ini, carriage_return_semicolon_and_hash_cut_the_line_anywhere) {
  EXPECT_EQ(only_line("k=v\r\n").value, "v");
  EXPECT_EQ(only_line("k=v;w").value, "v");
  EXPECT_EQ(only_line("k=v#w").value, "v");
  EXPECT_TRUE(lines("#k=v\n;k=v\n\r\n").empty());
}

TEST(Ini, last_line_needs_no_newline) { EXPECT_EQ(only_line("k=v").value, "v"); }

TEST(Ini, key_ends_at_the_first_equals_sign) {
  const IniLine line = only_line(" a = b = c ");
  EXPECT_EQ(line.key, "a");
  EXPECT_EQ(line.value, "b = c");
}

TEST(Ini, empty_key_and_empty_value_are_entries) {
  const IniLine line = only_line("=");
  EXPECT_EQ(line.kind, IniLineKind::kEntry);
  EXPECT_TRUE(line.key.empty());
  EXPECT_TRUE(line.value.empty());
}

TEST(Ini, section_name_is_trimmed_and_text_around_the_brackets_ignored) {
  const IniLine line = only_line(" junk [ name\t] more ]");
  EXPECT_EQ(line.kind, IniLineKind::kSection);
  EXPECT_EQ(line.key, "name");
}

TEST(Ini, brackets_in_an_entry_make_it_a_section) {
  const IniLine line = only_line("x[0]=1");
  EXPECT_EQ(line.kind, IniLineKind::kSection);
  EXPECT_EQ(line.key, "0");
  EXPECT_FALSE(line.header_hides_entry());
  EXPECT_TRUE(only_line("file=a[0].bin").header_hides_entry());
}

TEST(Ini, closing_before_opening_bracket_does_not_start_a_section) {
  EXPECT_EQ(only_line("]a[=1").kind, IniLineKind::kEntry);
  EXPECT_EQ(only_line("[a").kind, IniLineKind::kText);
}

TEST(Ini, section_without_a_name) {
  const IniLine line = only_line("[ ]");
  EXPECT_EQ(line.kind, IniLineKind::kSection);
  EXPECT_TRUE(line.key.empty());
}

TEST(Ini, zero_bytes_and_high_bytes_are_ordinary) {
  using namespace std::string_view_literals;
  EXPECT_EQ(only_line("k=a\0\xFF"sv).value, "a\0\xFF"sv);
}

TEST(Ini, numbers_are_decimal_hexadecimal_or_octal) {
  EXPECT_EQ(ini_number("10"), 10U);
  EXPECT_EQ(ini_number("0x1F"), 31U);
  EXPECT_EQ(ini_number("0XfF"), 255U);
  EXPECT_EQ(ini_number("010"), 8U);
  EXPECT_EQ(ini_number("+7"), 7U);
  EXPECT_EQ(ini_number("0"), 0U);
  EXPECT_EQ(ini_number(""), 0U);
}

TEST(Ini, negative_numbers_wrap_and_large_ones_saturate) {
  EXPECT_EQ(ini_number("-1"), ~std::uint64_t{0});
  EXPECT_EQ(ini_number("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(ini_number("0x1FFFFFFFFFFFFFFFF"), ~std::uint64_t{0});
  EXPECT_EQ(ini_number("-18446744073709551616"), ~std::uint64_t{0});
}

TEST(Ini, trailing_characters_make_no_number) {
  for (const char* text : {"0x", "12z", "0x12 ", "1.0", "abc", "-", "09", "0b1", "0xg"})
    EXPECT_FALSE(ini_number(text).has_value()) << text;
}

TEST(Ini, prefix_number_ignores_what_follows) {
  EXPECT_EQ(ini_number_prefix("0x12z"), 0x12U);
  EXPECT_EQ(ini_number_prefix("12 34"), 12U);
  EXPECT_EQ(ini_number_prefix("0x"), 0U);
  EXPECT_EQ(ini_number_prefix("zz"), 0U);
}

TEST(Ini, quotes_go_from_both_ends_only) {
  EXPECT_EQ(ini_unquote("\"a'b\""), "a'b");
  EXPECT_EQ(ini_unquote("'\""), "");
  EXPECT_EQ(ini_trim(" \ta b\t "), "a b");
}

}  // namespace
}  // namespace waymark::inputs
