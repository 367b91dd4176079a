// Text from a target: bytes that are perhaps UTF-8, made fit to be shown.
#pragma once

#include <cstddef>
#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark::outputs {

/// Bytes of the UTF-8 character at the front of `text`, which is not empty; 0: none that is well
/// formed.
std::size_t utf8_length(std::string_view text);

/// Bytes at the front of `text` that are printable ASCII; `quotable`: neither " nor \\ either.
std::size_t plain_length(std::string_view text, bool quotable);

/// In double quotes, with \n, \r, \t, \", \\ and \xNN for what cannot be shown.
void write_quoted(TextBuffer& out, std::string_view text);

/// One line, without line ends behind: control characters but tabs, and what is no UTF-8, become
/// \\n and \\xNN.
void write_shown(TextBuffer& out, std::string_view text);

}  // namespace waymark::outputs
