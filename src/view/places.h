// Executed instructions with everything that is known of them.
#pragma once

#include <cstdint>

#include "knowledge.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// The most instructions before, and after, a place.
inline constexpr std::uint32_t kMostAround = 512;
/// The innermost frames of a stack are given.
inline constexpr std::size_t kMostFrames = 1000;

/// kNotFound: the source has not executed this instruction.
Result<PlaceAnswer> place_of(Replay& replay, Instant instant, const Knowledge& knowledge,
                             const Stop& stop);

/// The same for `before` instructions before it, it, and `after` after it; fewer at the ends.
/// kInvalidArgument: more than kMostAround.
Result<PlacesAnswer> places_around(Replay& replay, Instant instant, std::uint32_t before,
                                   std::uint32_t after, const Knowledge& knowledge,
                                   const Stop& stop);

}  // namespace waymark::view
