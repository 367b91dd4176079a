// "Did you mean ...?": the known word that a mistyped one is closest to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace waymark {

/// The word in `known` that `word` most likely means: the one that takes the fewest edits.  An edit
/// inserts, removes or replaces a character or swaps two neighbours; case does not count.  One edit
/// is allowed for each three characters of `word`, at most three.  If `word` is the beginning of a
/// known word (three characters or more), that counts as one edit.  Among equals the first wins.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

/// The path in the same folder that one that does not exist most likely means; nothing: none is
/// near, or the folder cannot be read or has too many files.
std::optional<std::string> nearest_path(const std::string& path);

}  // namespace waymark
