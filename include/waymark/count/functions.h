// What was counted, function by function.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/count/ranking.h"
#include "waymark/image/symbols.h"

namespace waymark::count {

/// A function, in all contexts together.
struct FunctionRow {
  const image::Function* function = nullptr;  ///< nullptr: all code that has no name.
  std::uint64_t instructions = 0;
  /// Branches to its beginning that were taken; from within it only those with link.
  std::uint64_t entered = 0;
  std::uint64_t calls = 0;  ///< Branches with link in it that were taken.
  std::uint64_t cycles = 0;
  friend bool operator==(const FunctionRow&, const FunctionRow&) = default;
};

/// Order::kTimes: how often it was entered.
std::uint64_t weight(const FunctionRow& row, Order order);

/// All functions in which something was counted, by address; code without a name comes first.  A
/// block belongs to the function in which it begins.  `symbols` must outlive the result.
std::vector<FunctionRow> functions(const Counts& counts, const image::Symbols& symbols);

/// The `most` of them with the greatest weight, greatest first; those without any are left out.
std::vector<FunctionRow> top(std::vector<FunctionRow> rows, Order order, std::size_t most);

}  // namespace waymark::count
