// Shares as people read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace waymark::cli {

/// "12.5 %"; "0.0 %" of nothing.
inline std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", share);
}

}  // namespace waymark::cli
