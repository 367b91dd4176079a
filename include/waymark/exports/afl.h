// Edge maps for fuzzers that are guided by coverage.  An edge is a branch, and where it led.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "waymark/exports/table.h"

namespace waymark::exports {

/// The places of edges in a map; a power of two, as AFL has it by default.
inline constexpr std::size_t kAflMapSize = std::size_t{1} << 16;

/// The identity of a program in the map: its build ID, or without one its file name.  So the
/// edges of a program have the same places wherever it was in memory.
std::uint64_t afl_program_key(const std::vector<std::uint8_t>& build_id, std::string_view path);

/// The place of an edge from the instruction at `from` to the one at `to`, both as they were
/// linked.  As with AFL, an edge and its reverse have different places.
std::size_t afl_place(std::uint64_t from_key, std::uint64_t from, std::uint64_t to_key,
                      std::uint64_t to);

/// A line "PLACE:COUNT" for each place with edges, as `afl-showmap -r` writes it, with the whole
/// count.
Result<void> write_afl(const profile::Profile& profile,
                       std::span<const profile::ProgramProfile* const> programs,
                       const Options& options, TextBuffer& out);

/// The map itself: a byte for each place.  A count above 255 is 255, so that none becomes 0.
Result<void> write_afl_map(const profile::Profile& profile,
                           std::span<const profile::ProgramProfile* const> programs,
                           const Options& options, TextBuffer& out);

}  // namespace waymark::exports
