// "Did you mean ...?": the known word that a mistyped one is closest to.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace waymark {

/// The word of `known` that `word` most likely stands for: the one that takes the fewest edits to
/// reach.  An edit inserts, removes or replaces a character or swaps two neighbours; case does not
/// count.  One edit is allowed for each three characters of `word`, at most three.  A known word
/// that `word` is the beginning of (three characters or more) counts as one edit away.  Among
/// equals the first wins.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

}  // namespace waymark
