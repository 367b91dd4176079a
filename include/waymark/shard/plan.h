// The plan of a job: its inputs as they were when it was planned, and which of them each shard has.
// docs/howto/fleet.md describes its file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/index/file_digest.h"
#include "waymark/shard/job.h"
#include "waymark/shard/sha256.h"

namespace waymark::shard {

/// True: the user wants no more.
using Stop = std::function<bool()>;

/// A file, or a folder with all files below it.
struct Input {
  std::string path{};
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;  ///< See Check.
  friend bool operator==(const Input&, const Input&) = default;
};

/// The input as it is now.  `folder`: where relative paths begin.  `without`: of this file, the
/// size counts, and not its bytes.  kNotFound, kIo: it cannot be read; kConflict: `stop` was true.
Result<Input> look_at(const std::string& path, const std::string& folder, Check check,
                      const Stop& stop = {}, const std::string& without = {});

/// Consecutive inputs, or a slice of one.
struct Shard {
  std::size_t first = 0;
  std::size_t count = 0;
  std::optional<std::size_t> slice{};
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// An input that is cut into slices, and its trace as it was when the job was planned.
struct Cut {
  std::size_t input = 0;  ///< Its number.
  /// The file that is the trace, as a path like that of the input; empty: the bytes of the trace
  /// are not those of one file.
  std::string trace{};
  std::uint64_t trace_bytes = 0;
  std::uint64_t slice_bytes = 0;  ///< Whole frames; the last slice may have fewer.
  /// The bytes of each trace ID, so that a shard need not read all of the trace to know them.
  std::vector<std::pair<TraceId, std::uint64_t>> id_bytes{};
  /// One for the start of the trace and two for each slice: the second for its last bytes, which
  /// the shard of the next slice reads as well.  None with Check::kTimes.
  std::vector<std::uint64_t> digests{};
  friend bool operator==(const Cut&, const Cut&) = default;

  /// The number of slices.
  [[nodiscard]] std::size_t count() const;
  /// parallel::slice_limits().
  [[nodiscard]] std::vector<std::uint64_t> limits() const;

  /// Sets the digests.  `passed` is called with the end of what is not needed any more.  kConflict:
  /// `stop` was true.
  Result<void> look_at(Bytes trace_now, const Stop& stop = {},
                       const std::function<void(TraceIndex)>& passed = {});
};

/// Compares what the shard of a slice reads of the trace with what it was.
class SliceCheck {
 public:
  /// The trace must outlive it.
  SliceCheck(const Cut& cut, std::size_t slice, Bytes trace);

  /// The slice was read up to this offset of the trace.  May be called while it is read, so that
  /// its bytes come from the disk only once.
  void read_to(std::uint64_t offset);

  /// Reads the rest of the slice, the start of the trace, and the bytes before the slice.
  /// kConflict: `stop` was true.
  Result<bool> is_same(const Stop& stop = {});

 private:
  /// Consecutive bytes.
  struct Stretch {
    Bytes bytes{};
    std::uint64_t expected = 0;
    index::FileDigest digest{};
  };

  bool same_length_;
  std::uint64_t begin_ = 0;  ///< Where the slice begins.
  std::vector<Stretch> own_;
  std::vector<Stretch> others_;
};

struct Plan {
  std::string version{};  ///< The Waymark that planned it; no other may work on it.
  std::string what{};
  std::string format{};
  Check check = Check::kContent;
  std::string folder{};                ///< Absolute: where relative paths begin.
  std::vector<std::string> options{};  ///< Arguments of `waymark export`: "--symfs=sysroot".
  std::vector<Input> inputs{};
  std::vector<Cut> cuts{};      ///< Ascending by input.
  std::vector<Shard> shards{};  ///< Together they have each input once, in the same order.
  friend bool operator==(const Plan&, const Plan&) = default;

  [[nodiscard]] std::span<const Input> inputs_of(std::size_t shard) const {
    return std::span(inputs).subspan(shards[shard].first, shards[shard].count);
  }
  /// The cut whose slice the shard is; nullptr: it has whole inputs.
  [[nodiscard]] const Cut* cut_of(std::size_t shard) const;
  [[nodiscard]] Payload payload_of(std::size_t shard) const;
  [[nodiscard]] std::uint64_t bytes_of(std::size_t shard) const;
};

inline constexpr std::size_t kMostShards = 10'000'000;

/// Cuts the input at a path; nothing: it stays whole.  The plan has the rest of the job.  Errors:
/// the plan cannot be made.
using Cutter = std::function<Result<std::optional<Cut>>(const Plan& plan, const std::string& path)>;

/// Finds the inputs of a job and looks at each.  `folder`: absolute.  `cut`: for a job with slices.
/// Errors: those of find_inputs(), look_at() and `cut`.
Result<Plan> make_plan(const Job& job, const std::string& folder, std::string version,
                       const Stop& stop = {}, const Cutter& cut = {});

/// The content of its file, which ends with its digest.
std::string text_of(const Plan& plan);

/// The identity of the job: two plans have the same one only if they are equal.
Sha256 digest_of(const Plan& plan);

/// Reads the content of a file.  kBadData: it is not a plan, or is damaged; kUnsupported: that of a
/// newer format.
Result<Plan> read_plan(std::string_view text);

/// kConflict: an input is not what it was.  Other errors are those of look_at().
Result<void> check_inputs(const Plan& plan, std::size_t shard, const Stop& stop = {});

/// The same for what the shard of a slice reads of the trace.  Errors: kConflict.
Result<void> check_slice(const Plan& plan, std::size_t shard, SliceCheck check,
                         const Stop& stop = {});

/// Whether an error is only that `stop` was true.
bool was_stopped(const Error& error);

/// "3,7-9": as arrays of Slurm and others are written.
std::string ranges_of(std::span<const std::size_t> numbers);

}  // namespace waymark::shard
