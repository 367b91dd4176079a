// Instructions in a row.
#pragma once

#include <cstdint>
#include <optional>

#include "waymark/isa/instruction.h"

namespace waymark::isa {

struct InstructionRun {
  std::uint32_t count = 0;
  std::uint64_t end = 0;  ///< After the last one.
};

/// The instructions from `start` on that begin below `limit`.  T32 code is read for this, by
/// `halfword(address)`, which answers with a std::optional<std::uint16_t>.  Nothing: it could not
/// be read, or the instruction set is not known.
template <class ReadHalfword>
std::optional<InstructionRun> instructions_below(Isa isa, std::uint64_t start, std::uint64_t limit,
                                                 ReadHalfword&& halfword) {
  if (limit <= start) return InstructionRun{.count = 0, .end = start};
  if (isa == Isa::kA64 || isa == Isa::kA32) {
    const std::uint64_t count = (limit - start + 3) / 4;
    return InstructionRun{.count = static_cast<std::uint32_t>(count), .end = start + 4 * count};
  }
  if (isa != Isa::kT32) return std::nullopt;
  InstructionRun run{.count = 0, .end = start};
  while (run.end < limit) {
    const std::optional<std::uint16_t> first = halfword(run.end);
    if (!first) return std::nullopt;
    ++run.count;
    run.end += is_wide_t32(*first) ? 4 : 2;
  }
  return run;
}

}  // namespace waymark::isa
