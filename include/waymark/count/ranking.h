// The rows and branches with the greatest counts.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/count/counts.h"

namespace waymark::count {

enum class Order : std::uint8_t { kInstructions, kTimes, kCycles, kCalls };

/// The value that determines the order of a row.
std::uint64_t weight(const Row& row, Order order);

/// The `most` rows with the greatest weight, greatest first; equal ones as in Counts.  Rows without
/// weight are left out.
std::vector<Row> top(const Counts& counts, Order order, std::size_t most);

/// A branch and one of the places where execution continued after it.
struct Branch {
  Context context{};
  isa::Isa isa = isa::Isa::kUnknown;
  isa::InstrType type = isa::InstrType::kBranch;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;
  bool taken = false;
  std::uint64_t from = 0;         ///< The address of the branch.
  std::uint64_t to = kNoAddress;  ///< kNoAddress: not known.
  std::uint64_t times = 0;
  friend bool operator==(const Branch&, const Branch&) = default;
};

/// All branches of all rows and edges, by context, address and target.  A branch with link to the
/// next instruction has no subtype, because within a function it is not a call: it only reads the
/// program counter. Executions of an indirect branch that no edge covers go to kNoAddress.
std::vector<Branch> branches(const Counts& counts);

/// The same, the most frequent first, at most `most`.
std::vector<Branch> top_branches(const Counts& counts, std::size_t most);

}  // namespace waymark::count
