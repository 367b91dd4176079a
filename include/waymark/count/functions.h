// Counts by function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  /// Where other code begins: see image::CodeAt.
  std::uint64_t end = kNoAddress;
};

/// Among functions whose addresses are those of the counts.
FunctionAt function_at(const std::vector<image::Function>& functions, std::uint64_t address);

using FindFunction = std::function<FunctionAt(std::uint64_t address)>;
/// Reads T32 code at an address of the counts; nothing: it cannot be read.
using ReadHalfword = std::function<std::optional<std::uint16_t>(std::uint64_t address)>;

/// The counts of a row in one function.
struct FunctionShare {
  FunctionAt at{};
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
};

/// Divides a row among functions: each instruction belongs to the function that it is in, and the
/// cycles are divided evenly among the instructions.  Nearly always, this is one function.  T32
/// code of several functions stays with the first where it cannot be read.
void each_share(const Row& row, const FindFunction& find, const ReadHalfword& read,
                const std::function<void(const FunctionShare&)>& take);

/// Order::kTimes: how often it was called.
std::uint64_t weight(const FunctionRow& row, Order order);

/// All functions with counts, by address; code without a name comes first.  See each_share().
/// `symbols` must outlive the result.
std::vector<FunctionRow> functions(const Counts& counts, const image::Symbols& symbols,
                                   const ReadHalfword& read);

/// The same, program after program.
std::vector<FunctionRow> functions(const Counts& counts, const FindFunction& find,
                                   const ReadHalfword& read);

/// The `most` rows with the greatest weight, greatest first; those without weight are left out.
std::vector<FunctionRow> top(std::vector<FunctionRow> rows, Order order, std::size_t most);

}  // namespace waymark::count
