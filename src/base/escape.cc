#include "waymark/base/escape.h"

#include "waymark/base/utf8.h"

namespace waymark {

bool is_terminal_control(char32_t character) {
  const auto within = [character](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  return character < 0x20 || within(0x7F, 0x9F) || character == 0x061C || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069) || character == 0xFEFF;
}

void put_escaped(TextBuffer& out, std::string_view text) {
  while (true) {
    const std::size_t plain = plain_length(text, false);
    out.put(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const Utf8Character character = first_character(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (character.length == 0 || byte < 0x80) {
      out.put("\\x");
      out.hex(byte, 2);
      text.remove_prefix(1);
      continue;
    }
    if (is_terminal_control(character.code)) {
      out.put("\\u{");
      out.hex(character.code, 4);
      out.put('}');
    } else {
      out.put(text.substr(0, character.length));
    }
    text.remove_prefix(character.length);
  }
}

void put_escaped_lines(TextBuffer& out, std::string_view text) {
  while (true) {
    const std::size_t at = text.find_first_of("\n\t");
    put_escaped(out, text.substr(0, at));
    if (at == std::string_view::npos) return;
    out.put(text[at]);
    text.remove_prefix(at + 1);
  }
}

std::string escaped(std::string_view text) {
  TextBuffer out;
  put_escaped(out, text);
  return std::string(out.view());
}

}  // namespace waymark
