// Captures that are cut into slices: for plan, shard and merge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Where slices of about `slice_bytes` of the trace of a capture begin, and where the last one
/// ends. Empty: the trace is not longer, or cannot be cut, and a note with the path says why.
std::vector<std::uint64_t> cut_limits(inputs::Capture& capture, const std::string& path,
                                      std::uint64_t slice_bytes);

/// The bytes of each ID, which a capture need not read if they are known.
KnownIdBytes known_id_bytes(const shard::Cut& cut);

/// The codes and the content of the part of a slice.  kOk, or why there is none.  `refuse`: for
/// errors of shard::check_slice(); it returns the exit code.
int count_slice(const shard::Plan& plan, const ExportOptions& options, const Refuse& refuse,
                shard::Part& part);

/// The counts of a whole capture from the parts of its slices, the first of which is the shard
/// `first`.  `tells`: see add_slices().
Counted join_slices(const shard::Folder& folder, std::size_t first, inputs::Capture& capture,
                    const std::optional<Selection>& selection, bool with_notes = true);

}  // namespace waymark::cli
