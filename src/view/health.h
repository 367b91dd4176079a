// What looks wrong, as findings with places.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "overview.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// A sentence about the capture as a whole: the first sentence is the title, and what follows the
/// text.
HealthFinding finding_of(const std::string& sentences);

/// Where trace is missing, one finding for each track and kind, with its first place.  `tracks` are
/// those of the overview, with their names.
std::vector<HealthFinding> places_of_loss(const Overview& overview, std::span<const Track> tracks);

}  // namespace waymark::view
