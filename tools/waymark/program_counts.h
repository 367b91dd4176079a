// Counts by program: processes, and captures, have programs at different addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/count/functions.h"
#include "waymark/count/joint.h"
#include "waymark/perf/process_images.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

struct CountedProgram {
  std::string path{};  ///< As the recording names it; empty: nothing is mapped there.
  const program::Program* program = nullptr;  ///< nullptr: it is not an ELF file.
};

struct ProgramCounts {
  count::Counts counts;  ///< By joint addresses, without contexts.
  count::JointAddresses addresses;
  /// By their numbers.  Addresses are those for which they were linked; without a Program, offsets
  /// in the file.
  std::vector<CountedProgram> programs;

  [[nodiscard]] std::vector<count::FunctionRow> functions() const;

  /// The function at a joint address.
  [[nodiscard]] count::FunctionAt function_at(std::uint64_t joint) const;
  /// T32 code at a joint address.
  [[nodiscard]] std::optional<std::uint16_t> halfword(std::uint64_t joint) const;
};

/// `images`: those whose tasks the counts have; they must outlive the result.
ProgramCounts fold_programs(const count::Counts& counts, const perf::ProcessImages& images);

/// The same of several captures.  The programs must outlive the result.
class ProgramSum {
 public:
  void add(const count::Counts& counts, const profile::Locate& locate);
  ProgramCounts take() { return std::move(sum_); }

 private:
  profile::ProgramNumbers numbers_;
  ProgramCounts sum_;
};

}  // namespace waymark::cli
