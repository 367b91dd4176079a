// Counts with their nouns: "1 byte", "2 bytes".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace waymark {

/// `count` and `noun`, which gets an s unless `count` is 1; `plural` is for other nouns.
inline std::string counted(std::uint64_t count, std::string_view noun,
                           std::string_view plural = {}) {
  std::string text = std::to_string(count);
  text += ' ';
  if (count != 1 && !plural.empty()) return text.append(plural);
  text += noun;
  if (count != 1) text += 's';
  return text;
}

/// The word for one, or that for any other count: one_or(n, "is", "are").
constexpr std::string_view one_or(std::uint64_t count, std::string_view one,
                                  std::string_view several) {
  return count == 1 ? one : several;
}

}  // namespace waymark
