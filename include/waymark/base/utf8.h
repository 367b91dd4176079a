// UTF-8 text of unknown origin, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace waymark {

/// The character at the front of a text.
struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  ///< In bytes; 0: the text does not begin with a well-formed character.
};

/// Reads the first character of `text`, which must not be empty.  Surrogates, overlong forms and
/// codes above U+10FFFF are not well formed.
Utf8Character first_character(std::string_view text);

/// How many bytes at the front of `text` are printable ASCII.  `quotable`: up to the first " or \\,
/// too.
std::size_t plain_length(std::string_view text, bool quotable);

}  // namespace waymark
