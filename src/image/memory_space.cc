// The names of memory spaces.  See trc-pkt-lister.md 3 (as printed), and
// snapshot-format.md 7 (as read).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "waymark/image/image.h"

namespace waymark::image {
namespace {

struct NamedSpace {
  std::string_view name;
  SpaceMask space;
};

/// In the order in which a mixed set is printed.
constexpr auto kSingles = std::to_array<NamedSpace>({
    {"EL1S", kSpaceEl1S},
    {"EL1N", kSpaceEl1N},
    {"EL2N", kSpaceEl2},
    {"EL3", kSpaceEl3},
    {"EL2S", kSpaceEl2S},
    {"EL1R", kSpaceEl1R},
    {"EL2R", kSpaceEl2R},
    {"Root", kSpaceRoot},
});

constexpr auto kPrintedSets = std::to_array<NamedSpace>({
    {"Any S", kSpaceSecure},
    {"Any NS", kSpaceNonSecure},
    {"Any R", kSpaceRealm},
    {"Any", kSpaceAny},
});

constexpr auto kReadNames = std::to_array<NamedSpace>({
    {"EL1S", kSpaceEl1S},
    {"EL1N", kSpaceEl1N},
    {"EL2", kSpaceEl2},
    {"EL2N", kSpaceEl2},
    {"EL3", kSpaceEl3},
    {"EL2S", kSpaceEl2S},
    {"EL1R", kSpaceEl1R},
    {"EL2R", kSpaceEl2R},
    {"ROOT", kSpaceRoot},
    {"S", kSpaceSecure},
    {"N", kSpaceNonSecure},
    {"R", kSpaceRealm},
    {"ANY", kSpaceAny},
    // Names from before Armv8.
    {"H", kSpaceEl2},
    {"P", kSpaceEl1N},
    {"NP", kSpaceEl1N},
    {"SP", kSpaceEl1S},
});

}  // namespace

std::string space_name(SpaceMask space) {
  const auto* set = std::ranges::find(kPrintedSets, space, &NamedSpace::space);
  if (set != kPrintedSets.end()) return std::string(set->name);
  const auto* single = std::ranges::find(kSingles, space, &NamedSpace::space);
  if (single != kSingles.end()) return std::string(single->name);
  std::string list;
  for (const NamedSpace& each : kSingles) {
    if ((space & each.space) == 0) continue;
    list += each.name;
    list += ',';
  }
  return list;
}

Result<SpaceMask> space_by_name(std::string_view name) {
  const auto* known = std::ranges::find(kReadNames, name, &NamedSpace::name);
  if (known != kReadNames.end()) return known->space;
  return fail(
      ErrorCode::kNotFound,
      fmt::format("The memory space '{}' is not known; the names are EL1S, EL1N, EL2, EL2N, "
                  "EL3, EL2S, EL1R, EL2R, ROOT, S, N, R and ANY, in capitals.",
                  name));
}

}  // namespace waymark::image
