// The functions of a program, and what its mapping symbols say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "elf.h"
#include "waymark/program/program.h"

namespace waymark::program {

/// By section, because code of one section says nothing about the next.
struct ContentChange {
  std::uint64_t address = 0;
  std::optional<Content> content{};  ///< From here on.
};

/// A place that a symbol names, while several candidates exist.
struct NamedPlace {
  std::uint64_t start = 0;
  std::uint64_t size = 0;   ///< 0: up to the next place, at most to `limit`.
  std::uint64_t limit = 0;  ///< The last byte that it may have.
  std::string_view name{};
  bool function = false;
  std::uint8_t rank = 0;  ///< By its binding; the lowest is preferred.
};

/// The parts of a program that have code, in ascending order without overlaps.
std::vector<CodeRange> code_ranges(const Elf& elf);

/// The places that the symbols of `table` name in `code`.
std::vector<NamedPlace> named_places(const Elf& elf, const ElfSection& table,
                                     const std::vector<CodeRange>& code);

/// Of places with the same address only the best is kept.  A place ends where its size says, or
/// else where the next begins.  A label within a function is not a place of its own.
std::vector<Function> functions_of(std::vector<NamedPlace> places);

/// In ascending order.
std::vector<ContentChange> contents_of(const Elf& elf, const ElfSection& table);

}  // namespace waymark::program
