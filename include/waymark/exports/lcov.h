// Coverage as a tracefile of lcov.  See analysis-outputs.md 3.6.
#pragma once

#include "waymark/exports/table.h"

namespace waymark::exports {

/// In the form of lcov 1.x, which all releases read.  The count of a line is that of its most
/// frequent instruction; each conditional branch has two outcomes.
Result<void> write_lcov(const profile::Profile& profile,
                        std::span<const profile::ProgramProfile* const> programs,
                        const Options& options, TextBuffer& out);

}  // namespace waymark::exports
