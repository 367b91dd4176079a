#include "waymark/base/cut_text.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

TEST(CutText, what_fits_is_unchanged) {
  EXPECT_EQ(cut_text("", 0), "");
  EXPECT_EQ(cut_text("four", 4), "four");
}

TEST(CutText, a_cut_is_visible) { EXPECT_EQ(cut_text("fives", 4), "five...[cut]"); }

TEST(CutText, no_character_is_cut_apart) {
  EXPECT_EQ(cut_text("a\u00e4\u20ac\U0001F600", 2), "a...[cut]");
  EXPECT_EQ(cut_text("a\u00e4\u20ac\U0001F600", 5), "a\u00e4...[cut]");
  EXPECT_EQ(cut_text("a\u00e4\u20ac\U0001F600", 9), "a\u00e4\u20ac...[cut]");
  // Bytes that are not UTF-8.
  EXPECT_EQ(cut_text("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80...[cut]");
}

}  // namespace
}  // namespace waymark
