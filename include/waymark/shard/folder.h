// The folder of a job: its plan, its parts, and advice about attempts.  Any number of processes on
// any number of machines may work in it; nothing in it is ever changed, only added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/shard/part.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

/// Writes a file that is there with all its bytes, or not at all: under a temporary name first.
/// False: there was a file of this name already, which stays.  kIo, with a sentence.
Result<bool> publish(const std::string& temporary, const std::string& path, std::string_view bytes);

/// Moves a file, when all of it is on the disk, to a path on the same disk.  kIo, with a sentence.
Result<void> move_into_place(const std::string& temporary, const std::string& path);

/// The message of the last attempt at a shard.
struct Failure {
  std::size_t shard = 0;
  std::string sentence{};
};

struct Status {
  std::size_t done = 0;
  std::uint64_t done_bytes = 0;
  std::uint64_t all_bytes = 0;
  std::vector<std::size_t> missing{};  ///< All shards without a part, those of `running` as well.
  std::vector<std::size_t> running{};  ///< An attempt has begun, and its process may still live.
  std::vector<Failure> failures{};     ///< Of shards without a part.
  /// By the clocks of the machines, since 1970: when the first attempt began, and the last part
  /// was made.  0: not known.
  double begin = 0;
  double end = 0;

  /// Bytes of inputs in a second; 0: not known.
  [[nodiscard]] double bytes_per_second() const;
};

class Folder {
 public:
  /// Makes the folder with its plan.  If it has the same plan already, nothing changes.
  /// kConflict: it has another one.  kIo.
  static Result<Folder> create(const std::string& path, const Plan& plan);
  /// kNotFound: there is no plan.  kUnsupported: another version of Waymark planned it.  Errors of
  /// read_plan(), with the path.
  static Result<Folder> open(const std::string& path, std::string_view version);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Sha256& job() const { return job_; }
  [[nodiscard]] std::string part_path(std::size_t shard) const;

  /// Nothing: it is missing.  kBadData, kConflict: what is there is damaged, or the part of another
  /// job or shard; the sentence names the file.
  [[nodiscard]] Result<std::optional<Part>> part(std::size_t shard) const;
  [[nodiscard]] bool has_part_file(std::size_t shard) const;

  /// Puts a damaged part aside, so that the shard can be done again.
  [[nodiscard]] Result<void> set_aside(std::size_t shard) const;

  /// Finds all parts by their names; does not read them.
  [[nodiscard]] Status status() const;

 private:
  Folder(std::string path, Plan plan);

  std::string path_;
  Plan plan_;
  Sha256 job_;
};

/// One attempt at a shard.  While it lives, status() shows it.
class Attempt {
 public:
  /// kIo.
  static Result<Attempt> begin(const Folder& folder, std::size_t shard);
  Attempt(Attempt&& other) noexcept;
  Attempt& operator=(Attempt&&) = delete;
  Attempt(const Attempt&) = delete;
  ~Attempt();

  /// Writes the part.  False: another attempt was first.
  Result<bool> finish(const Part& part);
  /// Records why there is no part.  What cannot be recorded is lost.
  void fail_with(std::string_view sentence) noexcept;

 private:
  Attempt(const Folder& folder, std::size_t shard, std::string temporary);

  const Folder* folder_;
  std::size_t shard_;
  std::string temporary_;  ///< Empty: moved away.
  double began_;
};

}  // namespace waymark::shard
