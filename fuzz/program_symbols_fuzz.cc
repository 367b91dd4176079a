// ELF files of any bytes: functions are in order and do not overlap, and each is found at its own
// addresses; code that a kernel changes in memory is as before when all is set back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "waymark/program/code_switches.h"
#include "waymark/program/compressed_file.h"
#include "waymark/program/program.h"

using namespace waymark;
using namespace waymark::program;

namespace {

void change_code(Bytes file) {
  using Setting = SwitchedCode::Setting;
  const auto code = SwitchedCode::make(file);
  if (code == nullptr) return;
  constexpr std::size_t kMost = 64;
  const std::size_t count = std::min(code->switches().size(), kMost);
  const auto all_code = [&] {
    std::vector<std::uint8_t> all;
    for (const CodeSwitch& each : code->switches())
      for (const CodeSite& site : each.sites) {
        const Bytes bytes = code->from(site.file_offset);
        if (bytes.size() < 4 * site.off.size()) continue;  // This code is not loaded.
        all.insert(all.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(4 * site.off.size()));
      }
    return all;
  };
  const auto before = all_code();
  for (std::size_t i = 0; i < count; ++i) {
    for (const Setting setting : {Setting::kOn, Setting::kOff}) {
      code->set(i, setting);
      if (code->setting(i) != setting || code->would_change(i, setting)) std::abort();
    }
    for (const CodeSite& site : code->switches()[i].sites) {
      if (site.on.size() != site.off.size() || site.on.empty()) std::abort();
      std::vector<std::size_t> found;
      code->switches_in(site.file_offset, 1, found);
      const bool loaded = code->from(site.file_offset).size() >= 4 * site.off.size();
      if (loaded && std::ranges::find(found, i) == found.end()) std::abort();
    }
  }
  for (std::size_t i = 0; i < count; ++i) code->set(i, Setting::kAsInFile);
  if (all_code() != before) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Kernel modules may be compressed as a whole.
  if (const Bytes bytes(data, size); is_compressed(bytes)) {
    const auto unpacked = unpack_file(bytes);
    if (unpacked) static_cast<void>(Program::view(*unpacked, "", {.this_machine = false}));
    return 0;
  }
  change_code(Bytes(data, size));
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
