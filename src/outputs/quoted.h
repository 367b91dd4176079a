// Text from a target, whose bytes may not be UTF-8, for output.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark::outputs {

/// In double quotes.  Line ends, tabs, quotes and backslashes become \n, \r, \t, \" and \\; all
/// other characters are shown as put_escaped() shows them.
void write_quoted(TextBuffer& out, std::string_view text);

/// As put_escaped(), without the line ends at the end of the text.
void write_shown(TextBuffer& out, std::string_view text);

}  // namespace waymark::outputs
