// program_frames PROGRAM [ROOT...]: for each address of standard input, in hexadecimal, the
// functions that contain it, as llvm-symbolizer writes them.
#include <fmt/core.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/program/program.h"

int main(int argc, char** argv) {
  using namespace waymark::program;
  if (argc < 2) return 2;
  const DebugSearch search{.roots = {argv + 2, argv + argc}, .this_machine = false};
  const auto program = Program::open(argv[1], search);
  if (!program) {
    fmt::print(stderr, "{}\n", program.error().detail);
    return 1;
  }
  const auto text = [](std::string_view known) { return known.empty() ? "??" : known; };
  std::vector<Frame> frames;
  for (std::string line; std::getline(std::cin, line);) {
    (*program)->frames(std::strtoull(line.c_str(), nullptr, 16), frames);
    if (frames.empty()) frames.emplace_back();
    for (const Frame& frame : frames) {
      fmt::print("{}\n{}:{}:{}\n", text(frame.function), text(frame.file), frame.line,
                 frame.column);
    }
    fmt::print("\n");
  }
  return 0;
}
