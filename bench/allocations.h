// Counts the allocations of this process: malloc and everything that calls it, also operator new.
#pragma once

#include <cstdint>

namespace waymark::bench {

/// Calls since the start of the program.
std::uint64_t allocation_count();

}  // namespace waymark::bench
