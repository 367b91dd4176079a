// Executed instructions with everything that is known of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "knowledge.h"
#include "line_runs.h"
#include "range_walk.h"
#include "stack_watch.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// kNotFound: the source has not executed so many instructions, or none.
Result<PlaceAnswer> place_of(Replay& replay, Instant instant, const Knowledge& knowledge,
                             const Stop& stop);
/// The same; `before` and `after`: at most kMostAround.
Result<PlacesAnswer> places_around(Replay& replay, Instant instant, std::uint32_t before,
                                   std::uint32_t after, const Knowledge& knowledge,
                                   const Stop& stop);
inline constexpr std::uint32_t kMostAround = 512;

/// The function at an address; FunctionTable::kUnknown: it has no name.  `offset`: from its start.
FunctionNumber function_at(const Knowledge& knowledge, const program::PlaceLookup& places,
                           const Element& element, std::uint64_t address, std::uint64_t& offset);

}  // namespace waymark::view
