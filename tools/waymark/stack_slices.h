// Call stacks of captures that are cut into slices: for shard and merge.
#pragma once

#include "export_stacks.h"
#include "slice_join.h"
#include "waymark/stacks/tree.h"

namespace waymark::cli {

/// As count_slice().
int record_slice(const shard::Plan& plan, const StackExport& wanted, const Refuse& refuse,
                 shard::Part& part);

/// The call tree of a whole capture from the parts of its slices, the first of which is the shard
/// `first`.  The exit code for the capture.  `failed`: not kOk if nothing can be merged.
int join_stack_slices(const shard::Folder& folder, std::size_t first, const StackExport& wanted,
                      stacks::Tree& tree, int& failed);

}  // namespace waymark::cli
