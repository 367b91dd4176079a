// Console text: the input with tags of SyS-T lines in place of a rare byte, so that the fuzzer
// does not have to find them.  Invariants: chunks make no difference, and no frame has more bytes
// than its text has digits.
#include <string>
#include <vector>

#include "require.h"
#include "waymark/syst/lines.h"
#include "waymark/syst/message.h"

namespace {

using namespace waymark;
using namespace waymark::syst;
using fuzz::require;

std::string lines(std::string_view text, std::size_t chunk) {
  LineReader reader;
  std::string listed;
  std::size_t bytes = 0;
  Frame frame;
  const auto add = [&] {
    require(frame.bytes.size() <= kMaxMessage, "a frame longer than any message");
    bytes += frame.bytes.size();
    listed += std::to_string(frame.index) + ' ' + std::string(frame_end_name(frame.end));
    listed.append(frame.bytes.begin(), frame.bytes.end());
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    const std::string block(text.substr(at, chunk));
    reader.feed({reinterpret_cast<const std::uint8_t*>(block.data()), block.size()});
    while (reader.next(frame)) add();
  }
  while (reader.finish(frame)) add();
  require(2 * bytes <= text.size(), "more bytes than digits");
  return listed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  std::string text;
  for (std::size_t i = 1; i < size; ++i) {
    if (data[i] == 0x80) {
      text += kLineTag;
    } else {
      text += static_cast<char>(data[i]);
    }
  }
  require(lines(text, text.size()) == lines(text, data[0] % 32 + 1U), "chunks make a difference");
  return 0;
}
