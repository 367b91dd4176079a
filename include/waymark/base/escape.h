// Names and messages made safe for a terminal: the one rule for text that comes from trace,
// collateral, programs, files or the command line.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark {

/// True for a character that a terminal obeys or hides instead of showing it: control characters
/// (C0, DEL, C1), bidirectional controls, line and paragraph separators, and the byte order mark.
bool is_terminal_control(char32_t character);

/// Appends `text` without anything that could act on a terminal.  Printable characters are
/// unchanged, the backslash included.  ASCII control characters and bytes that are not UTF-8
/// become `\xNN`, other characters for which is_terminal_control() holds become `\u{NNNN}`.
void put_escaped(TextBuffer& out, std::string_view text);

/// The same of a text of several lines: its line ends and tabs stay.
void put_escaped_lines(TextBuffer& out, std::string_view text);

/// As put_escaped(), as a string.
std::string escaped(std::string_view text);

}  // namespace waymark
