// What -ss_verbose says of the reading of a snapshot; snapshot-format.md 8.
#pragma once

#include <span>

#include "log.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::compat {

/// `problems`: those of reading `snapshot`.
void log_reading(const inputs::Snapshot& snapshot, std::span<const inputs::Problem> problems,
                 Log& log);

}  // namespace waymark::compat
