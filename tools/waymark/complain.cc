#include "complain.h"

#include <new>

#include "waymark/base/escape.h"
#include "waymark/base/standard_streams.h"

namespace waymark::cli {
namespace {

void say(std::string_view kind, std::string_view sentence) noexcept {
  while (sentence.ends_with('\n')) sentence.remove_suffix(1);
  try {
    TextBuffer text;
    text.put(kind);
    put_escaped(text, sentence);
    text.put('\n');
    // In one write: other programs may write to the same terminal.
    write_to_standard_error(text.view());
  } catch (const std::bad_alloc&) {
    write_to_standard_error("waymark: out of memory.\n");
  }
}

}  // namespace

int complain(std::string_view sentence, int code) noexcept {
  say("waymark: ", sentence);
  return code;
}

void note(std::string_view sentence) noexcept { say("waymark: note: ", sentence); }

}  // namespace waymark::cli
