// The rows of the line tables of a program.
#pragma once

#include <cstdint>
#include <string_view>

namespace waymark::program {

/// A source line, and code that was compiled from it.  The views live as long as the Program.
struct CodeLine {
  std::uint64_t address = 0;
  std::uint64_t end = 0;  ///< Exclusive; `address`: another line at the same address has the code.
  std::string_view file{};  ///< With its whole path; empty: not known.
  std::uint32_t line = 0;   ///< From 1; 0: the code is from no line.
  /// The name of the function that has the code, as the compiler knows it; the linker may know the
  /// function by other names, too.  Empty: not known.
  std::string_view function{};
  bool is_statement = false;  ///< It begins a statement: a good place for a breakpoint.
  friend bool operator==(const CodeLine&, const CodeLine&) = default;
};

}  // namespace waymark::program
