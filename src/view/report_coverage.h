// The coverage of a report, as JSON.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/exports/coverage.h"

namespace waymark::view {

/// The text of `"coverage"`: sums, and a row for each source file, those with the most lines that
/// were not executed first.
void write_coverage(TextBuffer& out, const exports::Coverage& coverage);

}  // namespace waymark::view
