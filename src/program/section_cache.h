// Large sections of debug information that were compressed, kept for later runs in the user's
// cache.
//
// Each is a read-only file in the folder "sections" there.  Its name has the build ID of the
// program and a digest of the compressed bytes, so that a file never fits another program.  Files
// may be removed at any time.  Any number of programs may use the folder at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "waymark/base/mapped_file.h"
#include "waymark/base/types.h"

namespace waymark::program {

struct PackedSection {
  std::span<const std::uint8_t> build_id{};
  std::string_view name{};
  Bytes packed{};
  std::uint64_t size = 0;  ///< When it is unpacked.
};

/// Sections that are smaller are unpacked sooner than a file is opened and read.
inline constexpr std::uint64_t kSmallestCachedSection = std::uint64_t{8} << 20;

/// Nothing: it is not in the cache.
std::optional<MappedFile> find_in_cache(const PackedSection& section);

/// Does nothing if that fails, or if it would take more than a quarter of the free space.
void keep_in_cache(const PackedSection& section, Bytes unpacked);

}  // namespace waymark::program
