// Debug information of any bytes: no crash, the same answer each time, and names still come from
// symbols.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "waymark/program/code_line.h"
#include "waymark/program/program.h"

using namespace waymark;
using namespace waymark::program;

namespace {

/// Reads each character, so that a sanitizer sees views that have ended.
std::size_t sum_of(const std::vector<Frame>& frames) {
  std::size_t sum = 0;
  for (const Frame& frame : frames) {
    for (const char c : frame.function) sum += static_cast<unsigned char>(c);
    for (const char c : frame.file) sum += static_cast<unsigned char>(c);
    sum += frame.line + frame.column + frame.discriminator;
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto opened = Program::view(Bytes(data, size), "", {.this_machine = false});
  if (!opened) return 0;
  const Program& program = **opened;
  std::vector<Frame> frames;
  std::vector<Frame> again;
  const auto ask = [&](std::uint64_t address) {
    program.frames(address, frames);
    program.frames(address, again);
    if (frames != again) std::abort();
    static_cast<void>(sum_of(frames));
    const Function* const function = program.function(address);
    if (function != nullptr && (frames.empty() || frames.back().function != function->name))
      std::abort();
  };
  constexpr std::size_t kMost = 64;
  for (std::size_t i = 0; i < program.functions().size() && i < kMost; ++i) {
    ask(program.functions()[i].start);
    ask(program.functions()[i].last);
  }
  for (std::size_t i = 0; i < program.code().size() && i < kMost; ++i) {
    const CodeRange& code = program.code()[i];
    for (std::uint64_t at = 0; at < 4 * kMost && at <= code.last - code.first; at += 4)
      ask(code.first + at);
    ask(code.last);
  }
  std::size_t rows = 0;
  program.each_line([&](const CodeLine& row) {
    if (++rows > kMost) return;
    if (row.end < row.address) std::abort();
    static_cast<void>(sum_of({{.file = row.file, .line = row.line}}));
    ask(row.address);
    static_cast<void>(program.bytes_from(row.address));
  });
  return 0;
}
