// Captures that are cut into slices: for plan, shard and merge.
#pragma once

#include <optional>
#include <string>

#include "counting.h"
#include "export_options.h"
#include "input_options.h"
#include "slice_join.h"
#include "waymark/shard/folder.h"

namespace waymark::cli {

/// Cuts the input at a path as a job wants it.  Nothing: it stays whole; if it is long enough for
/// slices, a note says why.
Result<std::optional<shard::Cut>> cut_input(const ExportOptions& options, const shard::Job& job,
                                            const shard::Plan& plan, const std::string& path);

/// What a capture need not read to know it.
KnownIdBytes known_id_bytes(const shard::Cut& cut);

/// The codes and the content of the part of a slice.  kOk, or why there is none.  `refuse`: for
/// errors of shard::check_slice(); it returns the exit code.
int count_slice(const shard::Plan& plan, const ExportOptions& options, const Refuse& refuse,
                shard::Part& part);

/// The counts of a whole capture from the parts of its slices, the first of which is the shard
/// `first`.  Where the parts do not fit together, it decodes again, and a note says so.
Counted join_slices(const shard::Folder& folder, std::size_t first, inputs::Capture& capture,
                    const std::optional<Selection>& selection);

}  // namespace waymark::cli
