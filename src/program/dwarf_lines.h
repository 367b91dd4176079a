// Line tables (.debug_line), DWARF 2 to 5.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dwarf_unit.h"

namespace waymark::program {

struct LineRow {
  std::uint64_t address = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t discriminator = 0;
  bool is_statement = false;
};

/// Code that is contiguous in the table.
struct LineSequence {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  ///< Exclusive.
  std::size_t first = 0;   ///< Its rows.
  std::size_t count = 0;
};

struct LineTable {
  std::vector<LineSequence> sequences{};  ///< In ascending order.
  std::vector<LineRow> rows{};            ///< The last one at an address has the code.
  std::vector<std::string> files{};       ///< Whole paths.
  bool from_zero = false;                 ///< The first file has the number 0, not 1.

  /// nullptr: none covers the address.
  [[nodiscard]] const LineRow* find(std::uint64_t address) const;
  [[nodiscard]] std::string_view file(std::uint64_t number) const;
};

/// The table of a unit.  A sequence that does not begin at an address for which `is_code` is true
/// belongs to code that the linker left out.
LineTable read_line_table(const DwarfUnit& unit, const std::function<bool(std::uint64_t)>& is_code);

}  // namespace waymark::program
