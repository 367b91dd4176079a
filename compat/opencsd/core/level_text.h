// Texts of packets and elements, as the level in use has them.
#pragma once

#include "level.h"
#include "waymark/base/text_buffer.h"

namespace waymark::compat {

/// Writes the text without what 1.8.0 has added to it.
void put_old_text(TextBuffer& out, std::string_view text);

/// The text that `write` appends to a buffer, at the level in use.
template <class Write>
void write_at_level(TextBuffer& out, const Write& write) {
  if (level_in_use().number >= kLevel180) [[likely]] {
    write(out);
    return;
  }
  TextBuffer text;
  write(text);
  put_old_text(out, text.view());
}

}  // namespace waymark::compat
