// Places where execution may continue after a branch whose target only the trace states.
#pragma once

#include <cstdint>
#include <functional>
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

/// Programs with more parts with code than these are not searched: each trial mounts all of them.
inline constexpr std::size_t kMostCodeSegments = 64;

/// Reads all code of the program as `isa`; data in it does no harm but makes it slower.  `stop`,
/// which may be empty, is called from time to time.  True: the rest of the code is not read.
CodeSites find_sites(const elf::File& program, isa::Isa isa,
                     const std::function<bool()>& stop = {});

}  // namespace waymark::locate
