// The messages of -ss_verbose about reading a snapshot; see snapshot-format.md 8.
#pragma once

#include <span>

#include "log.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::compat {

/// `problems` occurred while `snapshot` was read.
void log_reading(const inputs::Snapshot& snapshot, std::span<const inputs::Problem> problems,
                 Log& log);

}  // namespace waymark::compat
