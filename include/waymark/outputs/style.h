// The style of text for people: colours and arrows, where they can be shown.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark::outputs {

/// The abilities of the reader's terminal.  The default is text for a file: no colours, UTF-8.
struct Style {
  bool colours = false;
  bool ascii = false;  ///< Only ASCII characters of Waymark's own; names are unchanged.

  [[nodiscard]] std::string_view arrow() const { return ascii ? "->" : "\u2192"; }
};

/// Which text is coloured.
enum class Colour { kHeading, kName, kDamage };

/// Text that is appended from here to end_colour() has this colour.
inline void begin_colour(TextBuffer& out, const Style& style, Colour colour) {
  constexpr std::string_view kCodes[] = {"\x1b[1m", "\x1b[36m", "\x1b[31m"};
  if (style.colours) out.put(kCodes[static_cast<std::size_t>(colour)]);
}
inline void end_colour(TextBuffer& out, const Style& style) {
  if (style.colours) out.put("\x1b[m");
}

}  // namespace waymark::outputs
