// The branches of one slice of a trace as the content of parts.
#pragma once

#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/exports/branch_list.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

struct SliceBranches {
  parallel::Seam seam{};
  exports::BranchStates begin{};  ///< What was assumed at the beginning of the slice.
  exports::BranchStates end{};
  exports::FoundBranches found{};
  /// The programs and other files that were read, besides those of the input.
  std::vector<Input> files{};
};

/// The same branches always give the same bytes.
Result<std::string> encode(const SliceBranches& branches);

/// kBadData: it is not the branches of a slice.
Result<SliceBranches> read_branch_slice(Bytes content);

}  // namespace waymark::shard
