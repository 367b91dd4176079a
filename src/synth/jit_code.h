// A jitdump file for the code of a program, as if a JIT compiler had made it.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/perf/fields.h"
#include "waymark/synth/program.h"

namespace waymark::synth {

/// When its functions are loaded, in ns.
struct JitTimes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< After it, other code takes the place of some functions.
};

/// Each function of the program is loaded before `begin`.  Of three functions, the second takes the
/// place of other code, which is loaded first; so does the third, and it is moved there.
std::vector<std::uint8_t> jitdump_bytes(const Program& program, std::uint32_t pid, JitTimes times,
                                        perf::ByteOrder order);

}  // namespace waymark::synth
