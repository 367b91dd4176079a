// The parts of a capture of which a report has details.
#pragma once

#include <vector>

#include "waymark/base/result.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// The first part, and the one with the most instructions per unit of the axis, each short enough
/// for a timeline with spans.  Nothing: the timeline of the whole shows every instruction.
Result<std::vector<Window>> chosen_windows(Session& session, const Stop& stop);

}  // namespace waymark::view
