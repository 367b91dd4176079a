// The smallest program of a user: it needs a header and a function of the installed library.
#include <cstdio>

#include "waymark/base/bits.h"
#include "waymark/base/text_buffer.h"

int main() {
  waymark::TextBuffer text;
  text.put("waymark reads 0x");
  text.hex(waymark::bits<15, 4>(0x1A00U));
  text.put('\n');
  std::fwrite(text.view().data(), 1, text.size(), stdout);
  return text.view() == "waymark reads 0x1a0\n" ? 0 : 1;
}
