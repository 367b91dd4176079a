// The instructions of a program, with how often each was executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waymark/count/instruction_counts.h"
#include "waymark/isa/instruction.h"
#include "waymark/profile/profile.h"

namespace waymark::exports {

/// The instructions that were executed, in ascending order.
class ExecutedCode {
 public:
  explicit ExecutedCode(const profile::ProgramProfile& program);

  [[nodiscard]] std::size_t size() const { return addresses_.size(); }
  [[nodiscard]] std::uint64_t address(std::size_t i) const { return addresses_[i]; }
  /// In bytes.
  [[nodiscard]] unsigned size_of(std::size_t i) const { return sizes_[i]; }
  [[nodiscard]] const count::InstructionCount& count(std::size_t i) const { return counts_[i]; }

  /// Zero if no executed instruction begins there.
  [[nodiscard]] count::InstructionCount at(std::uint64_t address) const;
  /// How often the most frequent instruction of a stretch was executed; `end` is exclusive, but
  /// what begins at `start` always belongs to the stretch.
  [[nodiscard]] std::uint64_t most(std::uint64_t start, std::uint64_t end) const;

 private:
  static constexpr std::size_t kBlock = 256;

  [[nodiscard]] std::size_t index_of(std::uint64_t address) const;

  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint8_t> sizes_;
  std::vector<count::InstructionCount> counts_;
  std::vector<std::uint64_t> most_of_block_;  ///< The highest count of each kBlock instructions.
};

/// Finds the conditional branches in the code of a program, whether or not it was executed.
class BranchFinder {
 public:
  explicit BranchFinder(const profile::ProgramProfile& program);

  /// Adds the addresses of those in a stretch, some perhaps twice.  Stretches that follow each
  /// other are given in order.  If the stretches of a damaged file cover the code many times, no
  /// more are found.
  void add(std::uint64_t start, std::uint64_t end, std::vector<std::uint64_t>& branches);

 private:
  const program::Program& program_;
  /// Where conditional branches were executed: code of a JIT has no bytes in which they are found.
  std::vector<std::uint64_t> executed_;
  std::uint64_t left_ = 0;             ///< How many bytes may still be passed.
  isa::Isa isa_ = isa::Isa::kUnknown;  ///< Where no mapping symbol says it.
  std::uint64_t next_ = kNoAddress;    ///< Where the last stretch ended,
  std::uint8_t it_remaining_ = 0;      ///< and what was left there of an IT block.
};

/// How often code of a function led to its own start other than by a call.
std::uint64_t loops_to_start(const profile::ProgramProfile& program,
                             const program::Function& function);

}  // namespace waymark::exports
