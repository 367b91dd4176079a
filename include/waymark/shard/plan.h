// The plan of a job: its inputs as they were when it was planned, and which of them each shard has.
// docs/howto_fleet.md describes its file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
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

/// The input as it is now.  `folder`: where relative paths begin.  kNotFound, kIo: it cannot be
/// read; kConflict: `stop` was true.
Result<Input> look_at(const std::string& path, const std::string& folder, Check check,
                      const Stop& stop = {});

/// Consecutive inputs.
struct Shard {
  std::size_t first = 0;
  std::size_t count = 0;
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct Plan {
  std::string version{};  ///< The Waymark that planned it; no other may work on it.
  std::string what{};
  std::string format{};
  Check check = Check::kContent;
  std::string folder{};                ///< Absolute: where relative paths begin.
  std::vector<std::string> options{};  ///< Arguments of `waymark export`: "--symfs=sysroot".
  std::vector<Input> inputs{};
  std::vector<Shard> shards{};  ///< Together they have each input once, in the same order.
  friend bool operator==(const Plan&, const Plan&) = default;

  [[nodiscard]] std::span<const Input> inputs_of(std::size_t shard) const {
    return std::span(inputs).subspan(shards[shard].first, shards[shard].count);
  }
  [[nodiscard]] std::uint64_t bytes_of(std::size_t shard) const;
};

inline constexpr std::size_t kMostShards = 10'000'000;

/// Finds the inputs of a job and looks at each.  `folder`: absolute.  Errors: those of
/// find_inputs() and look_at().
Result<Plan> make_plan(const Job& job, const std::string& folder, std::string version,
                       const Stop& stop = {});

/// The content of its file, which ends with its digest.
std::string text_of(const Plan& plan);

/// What identifies the job: two plans have the same one only if they are equal.
Sha256 digest_of(const Plan& plan);

/// Reads the content of a file.  kBadData: it is not a plan, or is damaged; kUnsupported: that of a
/// newer format.
Result<Plan> read_plan(std::string_view text);

/// kConflict: an input is not what it was.  Other errors are those of look_at().
Result<void> check_inputs(const Plan& plan, std::size_t shard, const Stop& stop = {});

/// Whether an error is only that `stop` was true.
bool was_stopped(const Error& error);

/// "3,7-9": as arrays of Slurm and others are written.
std::string ranges_of(std::span<const std::size_t> numbers);

}  // namespace waymark::shard
