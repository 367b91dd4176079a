// The source lines of report.
#pragma once

#include "viewer.h"
#include "waymark/exports/coverage.h"

namespace waymark::cli {

/// Which source lines, functions and branches the capture executed.  Nothing if no program has line
/// tables, or if the capture cannot be counted, which the session of the report tells.
exports::Coverage coverage_of_capture(const ViewerInput& options, const std::string& path);

}  // namespace waymark::cli
