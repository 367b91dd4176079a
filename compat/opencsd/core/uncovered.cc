#include "uncovered.h"

namespace waymark::compat {

bool meet(const Stretch& a, const Stretch& b) {
  return (a.space & b.space) != 0 && a.first <= b.last && b.first <= a.last;
}

bool conflicts(const Stretch& added, const Stretch& old) {
  return (added.space & old.space) != 0 && (old.contains(added.first) || old.contains(added.last));
}

std::vector<Stretch> uncovered(const Stretch& added, std::span<const Stretch> older) {
  std::vector<Stretch> parts{added};
  std::vector<Stretch> left;
  for (const Stretch& old : older) {
    left.clear();
    for (const Stretch& part : parts) {
      if (!meet(part, old)) {
        left.push_back(part);
        continue;
      }
      Stretch inside = part;
      if (part.first < old.first) {
        inside.first = old.first;
        left.push_back({part.first, old.first - 1, part.space});
      }
      if (old.last < part.last) {
        inside.last = old.last;
        left.push_back({old.last + 1, part.last, part.space});
      }
      inside.space &= static_cast<image::SpaceMask>(~old.space);
      if (inside.space != image::kSpaceNone) left.push_back(inside);
    }
    parts.swap(left);
  }
  return parts;
}

}  // namespace waymark::compat
