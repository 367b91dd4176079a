// The result of one shard: a file that is written once and never changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/shard/job.h"
#include "waymark/shard/sha256.h"

namespace waymark::shard {

struct Part {
  Sha256 job{};
  std::size_t shard = 0;
  Payload payload = Payload::kProfile;
  /// By input of the shard: the exit code of the command line for it alone.  Not 0: it gave
  /// nothing, or not all.
  std::vector<std::uint8_t> codes{};
  /// See profile_codec.h, tree_codec.h, data_files.h, slice_codec.h, findings_codec.h,
  /// branch_slice_codec.h, stack_slice_codec.h, exports/branch_list.h.
  std::string content{};
  friend bool operator==(const Part&, const Part&) = default;
};

inline Bytes content_of(const Part& part) {
  return {reinterpret_cast<const std::uint8_t*>(part.content.data()), part.content.size()};
}

/// The same part always gives the same bytes.
std::string bytes_of(const Part& part);

/// kBadData: it is not a part, or is damaged; kUnsupported: that of another format.
Result<Part> read_part(Bytes bytes);

}  // namespace waymark::shard
