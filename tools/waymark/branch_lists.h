// Branch lists of simpleperf as inputs and outputs of export.
#pragma once

#include <expected>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input_options.h"
#include "symbol_options.h"
#include "waymark/exports/branch_list.h"
#include "waymark/perf/program_files.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

/// The branch list in a file; nothing: the file is not one, or cannot be opened.  kBadData and the
/// like, with the path in the sentence.
Result<std::optional<exports::BranchList>> open_branch_list(const std::string& path);

/// The counts of a branch list, with the programs that it names.
class BranchListCounts {
 public:
  /// Where programs are looked for, as for recordings.
  explicit BranchListCounts(const InputOptions& options);

  /// Adds the counts of one program, and returns whether its file is needed as long as the sum.
  using AddCounts = std::function<bool(const count::Counts&, const profile::Locate&)>;

  /// True: programs from here are needed.
  bool add(const exports::BranchList& list, const AddCounts& add_counts);
  /// Instructions that were found.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  /// Says on standard error which programs were missing, and what did not fit to them.
  void report(const std::string& path) const;

 private:
  const perf::ProgramFile* find(const exports::BinaryName& name);

  std::unique_ptr<perf::ProgramFiles> files_;
  std::uint64_t instructions_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<std::string> missing_;
};

/// For info: what is in the list.
void describe(const std::string& path, const exports::BranchList& list, bool as_json,
              TextBuffer& out);

struct BranchListExport {
  const InputOptions& input;
  const std::vector<std::string>& inputs;
  const std::string& output;
  const SymbolOptions& symbols;
  bool compress = false;
};

/// A trace of which a list is made.  Its packets are read, and nothing is decoded.
class BranchTrace {
 public:
  /// On failure prints the sentence and returns the exit code.
  static std::expected<BranchTrace, int> open(const BranchListExport& wanted,
                                              const std::string& path,
                                              const KnownIdBytes& known_id_bytes = {},
                                              bool print_notes = true);
  [[nodiscard]] inputs::Capture& capture() const { return *capture_; }
  /// Knows the places of one pass through the trace.
  [[nodiscard]] exports::BranchListBuilder::Locate locate() const;

 private:
  BranchTrace(std::unique_ptr<inputs::Capture> capture, outputs::PlaceLookup places)
      : capture_(std::move(capture)), places_(std::move(places)) {}

  std::unique_ptr<inputs::Capture> capture_;
  outputs::PlaceLookup places_;
};

/// Says which atoms of a whole trace are in no list.  kOk, or the exit code for it.
int report_found(const std::string& path, const exports::FoundBranches& found);

/// Adds one input to a list, and what it read to `files`.  The result is the exit code.
int add_branch_list(const BranchListExport& wanted, const std::string& path,
                    exports::BranchList& list, std::vector<std::string>& files);

/// Writes the list; `files` must not be lost.  The result is the exit code.
int write_branch_list(const BranchListExport& wanted, const exports::BranchList& list,
                      const std::vector<std::string>& files);

/// Writes the sum of all inputs: trace, or branch lists.  The result is the exit code.
int export_branch_list(const BranchListExport& wanted);

}  // namespace waymark::cli
