// Mismatches of a capture by function, and what they say about each program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace waymark::mismatch {

/// How often trace and code image disagreed in one function.
struct FunctionRow {
  std::string program{};   ///< Its path on this machine; empty: not known.
  std::string function{};  ///< Empty: not known.
  std::uint64_t times = 0;
  bool in_kernel = false;
  bool switches = false;  ///< There is code nearby that the kernel changes in memory.
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
};

struct ProgramSummary {
  std::string program{};  ///< As in its rows.
  std::uint64_t times = 0;
  Cause cause = Cause::kOtherFile;
  /// The most frequent functions, with how often; at most kMostNamed.
  std::vector<std::pair<std::string, std::uint64_t>> functions{};
  std::size_t other_functions = 0;
};
inline constexpr std::size_t kMostNamed = 4;

/// One for each program, in the order in which the rows name them.
std::vector<ProgramSummary> by_program(std::span<const FunctionRow> rows);

}  // namespace waymark::mismatch
