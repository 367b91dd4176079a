#include "../../src/outputs/quoted.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::outputs {
namespace {

std::string quoted(std::string_view text) {
  TextBuffer out;
  write_quoted(out, text);
  return std::string(out.view());
}

TEST(Quoted, what_cannot_be_shown_is_escaped) {
  EXPECT_EQ(quoted("a\tb\r\n"), R"("a\tb\r\n")");
  EXPECT_EQ(quoted("\"\\\x1b\x7f"), R"("\"\\\x1b\x7f")");
  EXPECT_EQ(quoted(""), R"("")");
}

TEST(Quoted, utf8_stays_and_broken_utf8_does_not) {
  EXPECT_EQ(quoted("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"");
  EXPECT_EQ(quoted("\xC3"), R"("\xc3")");
  EXPECT_EQ(quoted("\xED\xA0\x80"), R"("\xed\xa0\x80")");
}

}  // namespace
}  // namespace waymark::outputs
