// Parts of programs that are compressed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::program {

/// The most that `packed` may become, whatever it claims.
std::uint64_t most_unpacked(std::uint64_t packed);

/// `size` bytes of zlib or zstd data.  Nothing: damaged, or this build cannot read it.
std::optional<std::vector<std::uint8_t>> unpack_zlib(Bytes packed, std::uint64_t size);
std::optional<std::vector<std::uint8_t>> unpack_zstd(Bytes packed, std::uint64_t size);

/// A whole file in the format of xz, gzip or zstd.  Nothing: also if it becomes larger than
/// most_unpacked() or 512 MiB.
std::optional<std::vector<std::uint8_t>> unpack_xz(Bytes packed);
std::optional<std::vector<std::uint8_t>> unpack_gzip(Bytes packed);
std::optional<std::vector<std::uint8_t>> unpack_zstd_file(Bytes packed);

}  // namespace waymark::program
