// Identifies a file by its first bytes.
#pragma once

#include <cstdint>
#include <string>

namespace waymark::index {

enum class IndexFile : std::uint8_t {
  kOther,
  kRemains,  ///< Empty, or the beginning of a database that was cut off.
  kIndex,
};

/// `path` must be a regular file.
IndexFile look_at_index_file(const std::string& path);

}  // namespace waymark::index
