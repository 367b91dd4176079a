// Branch lists of captures that are cut into slices: for shard and merge.
#pragma once

#include <string>

#include "branch_lists.h"
#include "slice_join.h"

namespace waymark::cli {

/// As count_slice().
int list_slice(const shard::Plan& plan, const BranchListExport& wanted, const Refuse& refuse,
               shard::Part& part);

/// Adds the branches of a whole capture from the parts of its slices, the first of which is the
/// shard `first`.  The exit code for the capture.  `failed`: not kOk if nothing can be merged.
int join_branch_slices(const shard::Folder& folder, std::size_t first,
                       const BranchListExport& wanted, exports::BranchList& list, int& failed);

}  // namespace waymark::cli
