// jitdump files and maps of any bytes: no crash, bounded memory, and all code is inside the file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "waymark/perf/jitdump.h"
#include "waymark/perf/perf_map.h"

namespace {

using namespace waymark;
using namespace waymark::perf;

void check_dump(Bytes bytes) {
  const auto dump = JitDump::read(bytes);
  if (!dump) return;
  std::uint64_t lines = 0;
  for (const JitFunction& function : dump->functions) {
    const Bytes code = function.code;
    if (code.empty() || code.data() < bytes.data() ||
        code.data() + code.size() > bytes.data() + bytes.size())
      std::abort();
    if (code.size() - 1 > ~std::uint64_t{0} - function.address) std::abort();
    for (const auto& line : function.lines.lines)
      if (line.file >= function.lines.files.size()) std::abort();
    lines += function.lines.lines.size();
  }
  if (lines > bytes.size() || dump->placements.size() > bytes.size() || dump->notes.size() > 2)
    std::abort();
  for (const JitPlacement& placement : dump->placements)
    if (placement.function >= dump->functions.size()) std::abort();
  if (dump->functions.empty()) return;
  // The names and lines of one function.
  const JitFunction& function = dump->functions.back();
  const std::uint64_t last = function.address + (function.code.size() - 1);
  const auto program =
      program::Program::of({{function.address, last, function.name}}, "jit", function.lines);
  std::vector<program::Frame> frames;
  for (const std::uint64_t address : {function.address, last}) {
    program->frames(address, frames);
    if (frames.size() != 1) std::abort();
  }
}

void check_map(std::string_view text) {
  const auto functions = read_perf_map(text);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].last < functions[i].start || functions[i].name.empty()) std::abort();
    if (i != 0 && functions[i - 1].last >= functions[i].start) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_dump(Bytes(data, size));
  check_map({reinterpret_cast<const char*>(data), size});
  return 0;
}
