#include "complain.h"

#include <new>
#include <string>

#include "exit_code.h"
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
    write_to_standard_error("waymark: Out of memory.\n");
  }
}

}  // namespace

int complain(std::string_view sentence, int code) noexcept {
  say("waymark: ", sentence);
  return code;
}

int complain_of_memory() noexcept {
  return complain(
      "Out of memory. Free some, raise the limit (ulimit -v), or use fewer threads with -j.",
      kMemory);
}

int complain_of_resources(const std::system_error& error) noexcept {
  try {
    return complain(std::string("A resource of the system, such as a thread, is not available: ") +
                        error.what() +
                        ". Raise the limit (ulimit -u, ulimit -v), or use fewer threads with -j.",
                    kMemory);
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  }
}

void note(std::string_view sentence) noexcept { say("waymark: note: ", sentence); }

}  // namespace waymark::cli
