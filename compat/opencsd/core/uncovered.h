// Memory accessors may overlap if the later one encloses the earlier one.  Waymark's image has no
// overlaps: there, the later one fills what the earlier ones leave.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "waymark/image/image.h"

namespace waymark::compat {

/// Addresses first..last, both included, in some memory spaces.
struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  image::SpaceMask space = image::kSpaceAny;

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return first <= address && address <= last;
  }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// They share an address in a space.
bool meet(const Stretch& a, const Stretch& b);

/// The reference only finds overlaps in which the new range begins or ends inside the old one.
bool conflicts(const Stretch& added, const Stretch& old);

/// The parts of `added` that are in none of `older`, each with the spaces in which it is visible.
std::vector<Stretch> uncovered(const Stretch& added, std::span<const Stretch> older);

}  // namespace waymark::compat
