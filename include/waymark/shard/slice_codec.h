// Counts of one slice of a trace as the content of parts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/count/part.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

/// By source, in the order of DecodeTree::sources().
struct SliceCounts {
  parallel::Seam seam{};
  std::vector<count::Part> parts{};
  std::vector<count::Part> ends{};  ///< parallel::Slice::end.
  /// The programs and other files that were read, besides those of the input.
  std::vector<Input> files{};
};

/// The same counts always give the same bytes.
std::string encode(const SliceCounts& counts);

/// Whether the tasks of the counts are those that `is_known` says.  Others are of another
/// recording.
bool has_only(const SliceCounts& counts, const std::function<bool(TaskId)>& is_known);

/// kBadData: it is not the counts of a slice.
Result<SliceCounts> read_slice(Bytes content);

}  // namespace waymark::shard
