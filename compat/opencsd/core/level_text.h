// Texts of packets and elements, as the level in use has them.
#pragma once

#include "level.h"
#include "waymark/base/text_buffer.h"

namespace waymark::compat {

/// Writes the text without what 1.8.0 has added to it.
void put_old_text(TextBuffer& out, std::string_view text);

/// The text of a packet from `begin` on, alone or in a line of the listing, gets the spelling that
/// 1.8.1 has corrected.
void misspell(TextBuffer& out, std::size_t begin);

/// The text that `write` appends to a buffer, at the level in use.
template <class Write>
void write_at_level(TextBuffer& out, const Write& write) {
  const std::uint32_t level = level_in_use().number;
  if (level >= kLevel180) [[likely]] {
    const std::size_t begin = out.size();
    write(out);
    if (level < kLevel181) misspell(out, begin);
    return;
  }
  TextBuffer text;
  write(text);
  misspell(text, 0);
  put_old_text(out, text.view());
}

}  // namespace waymark::compat
