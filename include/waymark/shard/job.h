// A job file: which captures, and what to make of all of them together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/result.h"

namespace waymark::shard {

/// How a shard notices that an input is not what it was when the job was planned.
enum class Check : std::uint8_t {
  kContent,  ///< By a digest of all bytes.
  kTimes,    ///< By size and time of change, without reading it.
};

/// The content of parts.
enum class Payload : std::uint8_t {
  kProfile = 0,
  kBranches = 1,
  kTree = 2,
  kTables = 3,
  kSlice = 4,  ///< The counts of a slice of one input, in jobs whose Want is kProfile.
  kFindings = 5,
  kBranchSlice = 6,  ///< The branches of a slice, in jobs whose Want is kBranches.
  kStackSlice = 7,   ///< What happened on call stacks in a slice, in jobs whose Want is kTree.
  kTableSlice = 8,   ///< Rows of a slice, and what others need of it; jobs whose Want is kTables.
};

/// A result that can be computed in parts, and one format in which it is written: those of `waymark
/// export`.
struct Want {
  std::string_view what;
  std::string_view format;
  Payload payload;
};

/// The first row with a `what` has its usual format.
std::span<const Want> wants();
/// nullptr: there is none.
const Want* find_want(std::string_view format);

/// The content of the parts of slices in jobs with such a Want; nothing: they need whole captures.
std::optional<Payload> payload_of_slices(Payload want);

struct Job {
  std::string what{};
  std::string format{};
  std::vector<std::string> inputs{};  ///< Paths and patterns, as glob(7) describes them.
  std::vector<std::string> lists{};   ///< Files with one path in each line.
  Check check = Check::kContent;
  // At most one of these is not 0.  All 0: each input is a shard.
  std::uint64_t shards = 0;
  std::uint64_t inputs_per_shard = 0;
  std::uint64_t bytes_per_shard = 0;
  // At most one of these is not 0.  Both 0: no input is cut.
  std::uint64_t slices = 0;  ///< For each input.
  std::uint64_t slice_bytes = 0;
  /// The options of `waymark export` by their long names without "--"; a flag has no value.
  std::vector<std::pair<std::string, std::vector<std::string>>> options{};
};

/// Reads TOML.  `path` is for sentences.  kParse, with the line; kUnsupported: this build cannot
/// read TOML.
Result<Job> read_job(std::string_view text, const std::string& path);

/// All paths of a job, in its order: what a pattern finds is sorted by bytes, and a path that was
/// found before is left out.  Relative ones begin at `folder`, and stay relative.  kNotFound: a
/// pattern, a path or a list is not there.
Result<std::vector<std::string>> find_inputs(const Job& job, const std::string& folder);

}  // namespace waymark::shard
