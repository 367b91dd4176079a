// Counts of single instructions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "waymark/count/counts.h"

namespace waymark::count {

/// How often one instruction was executed, in all contexts together.
struct InstructionCount {
  std::uint64_t times = 0;
  std::uint64_t taken = 0;  ///< Branches only, as in Row.
  std::uint64_t not_taken = 0;
  /// Its part of the cycles of its ranges, each of which divides them evenly among its bytes.
  std::uint64_t cycles = 0;
  friend bool operator==(const InstructionCount&, const InstructionCount&) = default;
};

/// The counts of the instructions that begin at `addresses`, which ascend; the last one ends at
/// `end`.  Ranges may begin and end outside.
std::vector<InstructionCount> instruction_counts(const Counts& counts,
                                                 std::span<const std::uint64_t> addresses,
                                                 std::uint64_t end);

}  // namespace waymark::count
