// ELF files of any bytes: functions are in order and do not overlap, and each is found at its own
// addresses.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "waymark/program/compressed_file.h"
#include "waymark/program/program.h"

using namespace waymark;
using namespace waymark::program;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Kernel modules may be compressed as a whole.
  if (const Bytes bytes(data, size); is_compressed(bytes)) {
    const auto unpacked = unpack_file(bytes);
    if (unpacked) static_cast<void>(Program::view(*unpacked, "", {.this_machine = false}));
    return 0;
  }
  const auto opened = Program::view(Bytes(data, size), "", {.this_machine = false});
  if (!opened) return 0;
  const Program& program = **opened;
  const std::vector<Function>& functions = program.functions();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Function& function = functions[i];
    if (function.last < function.start) std::abort();
    if (i != 0 && functions[i - 1].last >= function.start) std::abort();
    if (program.function(function.start) != &function) std::abort();
    if (program.function(function.last) != &function) std::abort();
    if (function.name.empty() || parent_name(function.name).size() > function.name.size())
      std::abort();
    static_cast<void>(program.content(function.start));
  }
  const std::vector<CodeRange>& code = program.code();
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].last < code[i].first) std::abort();
    if (i != 0 && code[i - 1].last >= code[i].first) std::abort();
  }
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{size}})
    static_cast<void>(program.address_of(offset));
  return 0;
}
