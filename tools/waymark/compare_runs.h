// Comparing two captures: for diff and report.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input_options.h"
#include "run_programs.h"
#include "symbol_options.h"
#include "waymark/diff/comparison.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/differences.h"

namespace waymark::cli {

struct CompareOptions {
  InputOptions input{};
  std::array<std::string, diff::kSides> paths{};
  std::vector<std::string> symbols{};  ///< FILE or FILE@ADDRESS, for both runs.
  RunsPrograms programs{};             ///< Those of one run.
  bool ignore_exceptions = false;
  std::vector<std::string> ignored_functions{};
  std::size_t most_places = 10;  ///< Divergences with call stacks.
};

/// Two runs and what they have in common.
class ComparedRuns {
 public:
  /// Opens the captures.  On failure prints the sentence and returns the exit code.
  static std::expected<std::unique_ptr<ComparedRuns>, int> open(const CompareOptions& options);

  /// Decodes both, and the beginning of both again if they differ.  kOk; kInterrupted;
  /// kInput with a sentence: a run cannot be decoded, or executed nothing.
  int run();
  /// After run(): whether both executed the same.
  [[nodiscard]] bool are_same() const { return comparison_->are_same(); }

  [[nodiscard]] outputs::DifferenceReport report() const;
  /// The files that no output may replace.
  [[nodiscard]] std::vector<std::string> input_files() const;

 private:
  struct Opened {
    std::unique_ptr<inputs::Capture> capture;
    outputs::PlaceLookup places{};
    /// The functions that are left out, in the order of the options.
    std::vector<outputs::FunctionMatch> ignored{};
  };

  explicit ComparedRuns(CompareOptions options) : options_(std::move(options)) {}
  std::expected<Opened, int> open_run(diff::Side side, bool again) const;
  [[nodiscard]] SymbolOptions symbols_of(diff::Side side) const;
  [[nodiscard]] diff::RunOptions run_options(const Opened& opened) const;
  [[nodiscard]] std::function<diff::ThreadName(const Element&)> thread_names(diff::Side side) const;
  /// Finds the functions that are left out.  kOk, or the exit code of what was said.
  int find_ignored(Opened& opened, const ProgramPlaces& places) const;
  [[nodiscard]] int refuse_unknown() const;
  void add_programs(diff::Side side);
  int compare();
  int locate(diff::Side side);

  CompareOptions options_;
  std::array<Opened, diff::kSides> runs_;
  std::unique_ptr<diff::Comparison> comparison_;
  std::vector<std::array<outputs::DifferencePlace, diff::kSides>> places_;
};

}  // namespace waymark::cli
