// Mismatches of a capture by function, and what they say about each program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::mismatch {

/// Code that may differ.
struct SuspectCode {
  std::uint64_t address = 0;
  std::uint64_t end = 0;
  std::string function{};  ///< Empty: not known.
};
inline constexpr std::size_t kMostSuspects = 8;

/// How often trace and code image disagreed in one function.
struct FunctionRow {
  std::string program{};   ///< Its path on this machine; empty: not known.
  std::string function{};  ///< Empty: not known.
  std::uint64_t times = 0;
  bool in_kernel = false;
  bool switches = false;    ///< There is code nearby that the kernel changes in memory.
  bool no_context = false;  ///< A program ran there, and the trace did not say of which process.
  std::string build_id{};   ///< The program's, in hexadecimal; empty: none is known.
  // The first one: the code that is to blame, up to and not including `end`.
  std::uint64_t address = 0;
  std::uint64_t end = 0;
  TraceIndex index = 0;
  /// Other equally suspect code on the way to the first one, the nearest first; at most
  /// kMostSuspects.
  std::vector<SuspectCode> suspects{};
};

/// Adds up rows.
class FunctionRows {
 public:
  /// One mismatch; `row.times` is not used.
  void add(FunctionRow row);
  /// The most frequent first; in the order of their names where that is the same.
  [[nodiscard]] std::vector<FunctionRow> take();

 private:
  std::vector<FunctionRow> rows_;  ///< In the order of programs and functions.
};

/// Why the file of a program may be another one than what ran.
enum class Cause : std::uint8_t {
  kOtherFile,    ///< The file is not the one that ran.
  kOtherKernel,  ///< The file is not of the kernel that ran.
  kChangedCode,  ///< The kernel changes code in memory, and did so nearby.
  kPatchedCode,  ///< Only one function differs: its code may have been changed in memory.
};

struct ProgramSummary {
  std::string program{};  ///< As in its rows.
  std::string build_id{};
  std::uint64_t times = 0;
  Cause cause = Cause::kOtherFile;
  bool no_context = false;  ///< It may also be the code of another process.
  // The first one in the trace, and its function, which may be empty.
  std::uint64_t address = 0;
  TraceIndex index = 0;
  std::string function{};
  /// Other functions on the way to it that are as suspect, each once.
  std::vector<std::string> suspects{};
  /// The most frequent functions, with how often; at most kMostNamed.
  std::vector<std::pair<std::string, std::uint64_t>> functions{};
  std::size_t other_functions = 0;
};
inline constexpr std::size_t kMostNamed = 4;

/// One for each program, in the order in which the rows name them.  One contradiction is enough: no
/// right image explains it.
std::vector<ProgramSummary> by_program(std::span<const FunctionRow> rows);

}  // namespace waymark::mismatch
