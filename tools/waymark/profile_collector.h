// The sum of what several inputs executed: for export and shard.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "branch_lists.h"
#include "counting.h"
#include "exit_code.h"
#include "export_options.h"
#include "waymark/exports/table.h"
#include "waymark/inputs/capture.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

/// The data that a format needs from its inputs.
struct CollectNeeds {
  bool code = true;   ///< An input in which no instruction is counted is an error.
  bool names = true;  ///< So is one without names of functions.
  bool notes = true;  ///< What is doubtful about an input is said; false: it was said before.
};

CollectNeeds needs_of(const exports::Format& format);

/// An input whose counts are known.
struct Precounted {
  KnownIdBytes id_bytes;
  std::function<Counted(inputs::Capture&, const std::optional<Selection>&)> count;
};

/// Sees the counts of each source of each input, of what was selected.
using CountObserver = std::function<void(const count::Counts&, const profile::Locate&)>;

/// The counts of all inputs together.
class Collector {
 public:
  Collector(const ExportOptions& options, CollectNeeds needs, CountObserver observer = {})
      : options_(options), needs_(needs), observer_(std::move(observer)) {}

  [[nodiscard]] const profile::Profile& profile() const { return profile_; }
  /// The same, which then is empty; its programs still belong to this.
  profile::Profile take_profile() { return std::exchange(profile_, {}); }
  /// The worst of the codes of the inputs.
  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] std::size_t used() const { return used_; }
  /// The inputs that could be read, and are trace.
  [[nodiscard]] const std::vector<std::string>& traces() const { return traces_; }
  /// All files that were read.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// The exit code of the command line for this input alone.
  int add(const std::string& path, const Precounted* known = nullptr);

 private:
  /// The owner of the programs of the profile.
  struct Used {
    explicit Used(inputs::Capture&& opened) : capture(std::move(opened)) {}
    inputs::Capture capture;
    profile::Locate locate{};
  };

  int add_input(const std::string& path, const Precounted* known);
  /// True: the profile has new programs.
  bool add_counts(const count::Counts& counts, const profile::Locate& locate);
  /// A list of branches, which simpleperf or export made.
  int add_branches(const std::string& path, const exports::BranchList& list);

  const ExportOptions& options_;
  CollectNeeds needs_;
  CountObserver observer_;
  std::list<Used> used_inputs_;
  std::list<BranchListCounts> used_lists_;
  profile::Profile profile_;
  std::vector<std::string> files_;
  std::vector<std::string> traces_;
  std::size_t used_ = 0;
  int code_ = kOk;
};

}  // namespace waymark::cli
