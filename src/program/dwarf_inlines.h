// Which functions are at an address, by .debug_info: a function and the calls inlined into it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "dwarf_unit.h"

namespace waymark::program {

/// A function or an inlined call.
struct CodeNode {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t parent = kNone;  ///< Where it was inlined; kNone: this is a function.
  std::string_view name{};
  std::uint64_t call_file = 0;
  std::uint32_t call_line = 0;
  std::uint32_t call_column = 0;
  std::uint32_t call_discriminator = 0;
  std::uint32_t declared = 0;  ///< The line that declares the function.
};

/// From here on, up to the next one.
struct CodeChange {
  std::uint64_t address = 0;
  std::uint32_t node = CodeNode::kNone;  ///< The innermost one.
};

struct CodeTree {
  std::vector<CodeNode> nodes{};
  std::vector<CodeChange> changes{};  ///< In ascending order.

  /// nullptr: no function is known there.
  [[nodiscard]] const CodeNode* find(std::uint64_t address) const;
  /// The name of the function that has the address; empty: it is not known.
  [[nodiscard]] std::string_view function(std::uint64_t address) const;
};

/// Reads the functions of a unit.  Of code that the linker left out, nothing is kept: `is_code` is
/// false for its addresses.
CodeTree read_code_tree(const DwarfUnit& unit, const std::function<bool(std::uint64_t)>& is_code);

/// A stretch of addresses that belongs to something.
struct Stretch {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  ///< Exclusive.
  std::uint32_t owner = 0;
};

/// Which owner has each address, where later stretches cover earlier ones.
std::vector<CodeChange> paint(const std::vector<Stretch>& stretches);

/// The owner at an address; CodeNode::kNone: none.
std::uint32_t owner_at(const std::vector<CodeChange>& changes, std::uint64_t address);

}  // namespace waymark::program
