// How a fuzz target states an invariant.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace waymark::fuzz {

/// If `holds` is false, ends the program, which makes the input a finding.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  (void)std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace waymark::fuzz
