// Files that are compressed as a whole, such as kernel modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::program {

/// The endings that Linux gives compressed modules: ".xz", ".gz", ".zst".
inline constexpr std::string_view kCompressedEndings[] = {".xz", ".gz", ".zst"};

/// Whether the file begins like one of xz, gzip or zstd.
[[nodiscard]] bool is_compressed(Bytes file);

/// The content of such a file.  Nothing: it is damaged, it becomes far larger than a program, or
/// this build cannot read it.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> unpack_file(Bytes file);

}  // namespace waymark::program
