// The execution counts of the blocks of each program, as CSV.
#pragma once

#include <span>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/exports/table.h"
#include "waymark/profile/profile.h"

namespace waymark::exports {

/// A header, and a line for each block.  Never fails.
Result<void> write_block_counts(const profile::Profile& profile,
                                std::span<const profile::ProgramProfile* const> programs,
                                const Options& options, TextBuffer& out);

}  // namespace waymark::exports
