// Counts by function.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/count/ranking.h"
#include "waymark/image/symbols.h"

namespace waymark::count {

/// The counts of one function, in all contexts together.
struct FunctionRow {
  const image::Function* function = nullptr;  ///< nullptr: all code without a name.
  std::uint32_t program = 0;                  ///< FunctionAt::program.
  std::uint64_t instructions = 0;
  std::uint64_t entered = 0;  ///< How often it was called: see call_of().
  std::uint64_t calls = 0;    ///< How many calls were made in it.
  std::uint64_t cycles = 0;
  friend bool operator==(const FunctionRow&, const FunctionRow&) = default;
};

/// The function at an address of the counts.
struct FunctionAt {
  const image::Function* function = nullptr;  ///< nullptr: it has no name.
  std::uint64_t start = 0;                    ///< Where it begins, as an address of the counts.
  std::uint32_t program = 0;                  ///< Code without a name is counted for each program.
};

/// Order::kTimes: how often it was called.
std::uint64_t weight(const FunctionRow& row, Order order);

/// All functions with counts, by address; code without a name comes first.  A block belongs to the
/// function in which it begins.  `symbols` must outlive the result.
std::vector<FunctionRow> functions(const Counts& counts, const image::Symbols& symbols);

/// The same, program after program.
std::vector<FunctionRow> functions(const Counts& counts,
                                   const std::function<FunctionAt(std::uint64_t address)>& find);

/// The `most` rows with the greatest weight, greatest first; those without weight are left out.
std::vector<FunctionRow> top(std::vector<FunctionRow> rows, Order order, std::size_t most);

}  // namespace waymark::count
