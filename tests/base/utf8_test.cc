#include "waymark/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark {
namespace {

TEST(Utf8, ReadsCharactersOfEachLength) {
  struct Case {
    std::string_view text;
    char32_t code;
    std::size_t length;
  };
  const Case cases[] = {{"A", 'A', 1},         {"\xc2\x80", 0x80, 2}, {"\u00e4x", 0xE4, 2},
                        {"\u20ac", 0x20AC, 3}, {"\uffff", 0xFFFF, 3}, {"\U0010ffff", 0x10FFFF, 4}};
  for (const Case& c : cases) {
    const Utf8Character character = first_character(c.text);
    EXPECT_EQ(character.code, c.code);
    EXPECT_EQ(character.length, c.length);
  }
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_EQ(first_character(text).length, 0U) << text;
}

// The scan takes words of eight bytes: this tests each place in them, and the bytes at the borders.
TEST(Utf8, PlainTextEndsAtTheFirstOtherByte) {
  for (unsigned value = 0; value < 256; ++value) {
    for (std::size_t at = 0; at < 19; ++at) {
      std::string text(19, ' ');
      text[at] = static_cast<char>(value);
      const bool plain = value >= 0x20 && value < 0x7F;
      EXPECT_EQ(plain_length(text, false), plain ? text.size() : at);
      const bool quotable = plain && value != '"' && value != '\\';
      EXPECT_EQ(plain_length(text, true), quotable ? text.size() : at);
    }
  }
}

}  // namespace
}  // namespace waymark
