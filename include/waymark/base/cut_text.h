// Text from outside that is cut where it is too long to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace waymark {

/// A longer name from a program is cut.
inline constexpr std::size_t kLongestName = 4096;

/// The text, or its first `most` bytes and "...[cut]"; a character of UTF-8 is not cut apart.
inline std::string cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::size_t end = most;
  // At most three bytes of a character follow its first one.
  for (int i = 0; i < 3 && end > 0 && continues(text[end]); ++i) --end;
  return std::string(text.substr(0, end)) + "...[cut]";
}

}  // namespace waymark
