#include "waymark/base/escape.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view text;
  std::string_view shown;
};

TEST(Escape, KeepsWhatIsPrintable) {
  for (const std::string_view text :
       {""sv, "main"sv, "a longer name with blanks"sv, R"(C:\a\b "quoted")"sv, "Größe → 5 €"sv,
        "\U0001F600 \u00A0"sv})
    EXPECT_EQ(escaped(text), text);
}

TEST(Escape, NothingThatATerminalObeysIsLeft) {
  const Case cases[] = {
      {"\x1b[31mred\x1b[0m", R"(\x1b[31mred\x1b[0m)"},
      {"a\0b"sv, R"(a\x00b)"},
      {"line\nline\r\tend\x7f", R"(line\x0aline\x0d\x09end\x7f)"},
      {"\xc2\x9b"
       "31m",
       R"(\u{009b}31m)"},
      {"\u0080\u009f\u00a0", "\\u{0080}\\u{009f}\u00a0"},
      // NOLINTBEGIN(misc-misleading-bidirectional): what must not be shown as it is.
      {"safe\u202Etxt.exe", R"(safe\u{202e}txt.exe)"},
      {"\u061C\u200E\u200F\u202A\u2066\u2069",
       R"(\u{061c}\u{200e}\u{200f}\u{202a}\u{2066}\u{2069})"},
      // NOLINTEND(misc-misleading-bidirectional)
      {"\u2028\u2029\uFEFF", R"(\u{2028}\u{2029}\u{feff})"},
  };
  for (const Case& c : cases) EXPECT_EQ(escaped(c.text), c.shown);
}

TEST(Escape, BytesThatAreNotUtf8AreShownOneByOne) {
  const Case cases[] = {
      {"\xff\xfe", R"(\xff\xfe)"},
      {"\x9b", R"(\x9b)"},                  // C1 as one byte.
      {"\xc0\x9b", R"(\xc0\x9b)"},          // Overlong.
      {"\xe2\x80", R"(\xe2\x80)"},          // Too short.
      {"\xed\xa0\x80", R"(\xed\xa0\x80)"},  // A surrogate.
      {"\xf4\x90\x80\x80", R"(\xf4\x90\x80\x80)"},
      {"\xe2\x28\xa1", R"(\xe2(\xa1)"},
  };
  for (const Case& c : cases) EXPECT_EQ(escaped(c.text), c.shown);
}

TEST(Escape, LinesKeepTheirEndsAndTabs) {
  TextBuffer out;
  put_escaped_lines(out, "a\tb\n\x1b[2J\r\n\xff");
  EXPECT_EQ(out.view(), "a\tb\n\\x1b[2J\\x0d\n\\xff");
}

TEST(Escape, AppendsToWhatIsThere) {
  TextBuffer out;
  out.put("in ");
  put_escaped(out, "f\x1b");
  EXPECT_EQ(out.view(), "in f\\x1b");
}

}  // namespace
}  // namespace waymark
