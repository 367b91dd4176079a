// program_frames PROGRAM [ROOT...]: for each address of standard input, in hexadecimal, the
// functions that contain it, as llvm-symbolizer writes them.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "waymark/program/program.h"

int main(int argc, char** argv) {
  using namespace waymark::program;
  if (argc < 2) return 2;
  const DebugSearch search{.roots = {argv + 2, argv + argc}, .this_machine = false};
  const auto program = Program::open(argv[1], search);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().detail.c_str());
    return 1;
  }
  std::vector<Frame> frames;
  const auto text = [](std::string_view known) {
    return known.empty() ? std::string("??") : std::string(known);
  };
  for (std::uint64_t address = 0; std::scanf("%" SCNx64, &address) == 1;) {
    (*program)->frames(address, frames);
    if (frames.empty()) frames.emplace_back();
    for (const Frame& frame : frames) {
      std::printf("%s\n%s:%" PRIu32 ":%" PRIu32 "\n", text(frame.function).c_str(),
                  text(frame.file).c_str(), frame.line, frame.column);
    }
    std::printf("\n");
  }
  return 0;
}
