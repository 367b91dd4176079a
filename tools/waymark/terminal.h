// The abilities of the terminal: colours, and characters beyond ASCII.
#pragma once

#include <optional>
#include <string_view>

#include "waymark/outputs/style.h"

namespace waymark::cli {

/// The option --color.
enum class ColourMode { kAuto, kAlways, kNever };

/// "auto", "always" or "never"; nothing: another word.
std::optional<ColourMode> colour_mode(std::string_view word);

/// For the rest of the run; kAuto until it is called.
void set_colour_mode(ColourMode chosen);

/// Whether text for `descriptor` is coloured.  kAuto: if it is a terminal, NO_COLOR is not set to
/// anything, and TERM is not "dumb".
[[nodiscard]] bool shows_colours(int descriptor);

/// Whether the locale's character set is UTF-8, by LC_ALL, LC_CTYPE and LANG.
[[nodiscard]] bool shows_utf8();

/// How text for `descriptor` is styled.
[[nodiscard]] outputs::Style style_for(int descriptor);

}  // namespace waymark::cli
