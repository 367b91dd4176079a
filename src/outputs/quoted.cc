#include "quoted.h"

#include "waymark/base/escape.h"

namespace waymark::outputs {

void write_quoted(TextBuffer& out, std::string_view text) {
  constexpr std::string_view kQuotable = "\n\r\t\"\\";
  constexpr std::string_view kLetters = "nrt\"\\";
  out.put('"');
  while (true) {
    const std::size_t at = text.find_first_of(kQuotable);
    put_escaped(out, text.substr(0, at));
    if (at == std::string_view::npos) break;
    out.put('\\');
    out.put(kLetters[kQuotable.find(text[at])]);
    text.remove_prefix(at + 1);
  }
  out.put('"');
}

void write_shown(TextBuffer& out, std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  put_escaped(out, text);
}

}  // namespace waymark::outputs
