// The execution of each program, in the addresses for which each program was linked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/count/calls.h"
#include "waymark/count/counts.h"
#include "waymark/count/functions.h"
#include "waymark/program/program.h"

namespace waymark::profile {

/// Where an address of a task is.
struct Place {
  const program::Program* program = nullptr;  ///< nullptr: it is missing, or not an ELF file.
  std::string_view path{};    ///< As the input names the program; empty: nothing is known there.
  std::uint64_t address = 0;  ///< Link-time; without a program, whatever the input has.
};

/// Finds the program of a task at an address.
using Locate = std::function<Place(TaskId task, std::uint64_t address)>;

/// Taken branches from one instruction to one target.
struct Branch {
  std::uint64_t from = 0;
  std::size_t to_program = 0;     ///< Its number in Profile::programs().
  std::uint64_t to = kNoAddress;  ///< kNoAddress: not known.
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;
  bool indirect = false;
  std::uint64_t times = 0;
  friend bool operator==(const Branch&, const Branch&) = default;
};

/// The counts of one program, whatever processes executed it and wherever it was in memory.
struct ProgramProfile {
  std::size_t number = 0;                     ///< In Profile::programs().
  std::string path{};                         ///< As the first input names it.
  std::vector<std::uint8_t> build_id{};       ///< Empty: not known.
  const program::Program* program = nullptr;  ///< nullptr: it is missing, or not an ELF file.
  /// Rows in ascending order, without contexts; their targets are in `branches` alone.
  count::Counts counts{};
  std::vector<Branch> branches{};  ///< Ascending by from, to_program, to.  Each pair only once.

  [[nodiscard]] std::uint64_t instructions() const;
};

/// Numbers programs in the order in which they are found.  Programs with one build ID are one
/// program; those without are one if they have the same path.
class ProgramNumbers {
 public:
  /// The number, and whether the program was not known before.
  std::pair<std::size_t, bool> number_of(const program::Program* program, std::string_view path,
                                         const std::vector<std::uint8_t>& build_id);
  std::pair<std::size_t, bool> number_of(const Place& place);

 private:
  std::size_t next_ = 0;
  std::map<std::vector<std::uint8_t>, std::size_t> by_build_id_;
  /// Those without one, by path and whether it is an ELF file.
  std::map<std::pair<std::string, bool>, std::size_t> by_path_;
};

/// The sum of the counts of any number of inputs, by the programs of ProgramNumbers.  All counts
/// are integers, and the sums do not depend on the order of the inputs.  A value.  The programs
/// must outlive it.
class Profile {
 public:
  /// Adds the counts of an input.  True: a program was not in the profile before, so that what
  /// `locate` returned for it is kept.
  bool add(const count::Counts& counts, const Locate& locate);
  /// The same of another profile.  How profiles are grouped into sums changes nothing.
  bool add(const Profile& other) { return add(other.programs_, other.other_instructions_); }
  /// The same; the memory of `other` is taken or freed program by program.
  bool add(Profile&& other) { return add(std::move(other.programs_), other.other_instructions_); }
  /// The same of the programs of a profile, in their order, and its other instructions.
  bool add(std::vector<ProgramProfile> programs, std::uint64_t other_instructions);

  /// In the order in which they were found.
  [[nodiscard]] const std::vector<ProgramProfile>& programs() const { return programs_; }

  /// Instructions that are in no row, because there were too many rows or their path is unknown.
  [[nodiscard]] std::uint64_t other_instructions() const { return other_instructions_; }
  /// Of all programs, with those of other_instructions().
  [[nodiscard]] std::uint64_t instructions() const;

 private:
  std::size_t number_of(const program::Program* program, std::string_view path,
                        const std::vector<std::uint8_t>& build_id);

  std::vector<ProgramProfile> programs_;
  ProgramNumbers numbers_;
  std::uint64_t other_instructions_ = 0;
};

/// A branch as a call.
struct FunctionCall {
  count::Call call = count::Call::kNone;
  const program::Function* callee = nullptr;  ///< The function at the target; nullptr: not known.
};

/// The call that a branch of `from`, which is a program of `profile`, makes.
FunctionCall call_of(const Profile& profile, const ProgramProfile& from, const Branch& branch);

/// count::each_share() of a row whose addresses are those of a program.
void each_share(const program::Program& program, const count::Row& row,
                const std::function<void(const count::FunctionShare&)>& take);

/// How often each function of one program was called, by its first address.
std::map<std::uint64_t, std::uint64_t> calls_of(const Profile& profile,
                                                const ProgramProfile& program);

}  // namespace waymark::profile
