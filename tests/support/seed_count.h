// How many random cases a test tries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace waymark::support {

/// Tests use the seeds from 1 to this, or make this number of random cases.  The environment
/// variable WAYMARK_SEED_PERCENT sets more of them, or fewer where a sanitizer is slow.
inline std::uint64_t seed_count(std::uint64_t usual) {
  const char* text = std::getenv("WAYMARK_SEED_PERCENT");
  const std::uint64_t percent = text == nullptr ? 100 : std::strtoull(text, nullptr, 10);
  return std::max<std::uint64_t>(usual * percent / 100, 1);
}

}  // namespace waymark::support
