// Where execution of a program may continue after a branch whose target only the trace tells.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/elf/file.h"
#include "waymark/isa/instruction.h"

namespace waymark::locate {

/// Addresses, ascending, each once; those for which the program was linked.
struct CodeSites {
  /// Starts of functions, as calls and symbols show them, and instructions after calls.
  std::vector<std::uint64_t> calls{};
  /// Those, and every other start of a block: targets of direct branches, and instructions after a
  /// waypoint.
  std::vector<std::uint64_t> blocks{};
};

/// More sites of a kind than these are left out, those of the highest addresses.
inline constexpr std::size_t kMostSites = std::size_t{1} << 22;

/// The parts of a program with code: those that are executable, or all if none is.
std::vector<elf::Segment> code_segments(const elf::File& program);

/// Reads all code of the program as `isa`; data in it does no harm but makes it slower.
CodeSites find_sites(const elf::File& program, isa::Isa isa);

}  // namespace waymark::locate
