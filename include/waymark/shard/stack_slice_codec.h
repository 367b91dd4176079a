// Call stacks of one slice of a trace as the content of parts.
#pragma once

#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

struct SliceStacks {
  parallel::Seam seam{};
  std::string steps{};  ///< Written by a StepWriter.
  std::string ends{};   ///< The same, of parallel::Slice::end.
  /// The programs and other files that were read, besides those of the input.
  std::vector<Input> files{};
};

/// The same stacks always give the same bytes.
std::string encode(const SliceStacks& stacks);

/// kBadData: it is not the stacks of a slice.  Whether the steps are some, only a StepReader says.
Result<SliceStacks> read_stack_slice(Bytes content);

}  // namespace waymark::shard
