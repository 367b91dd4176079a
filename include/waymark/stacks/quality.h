// The reliability of call stacks.
#pragma once

#include <cstdint>

namespace waymark::stacks {

/// Counts of one source, or sums of several.
struct Quality {
  std::uint64_t instructions = 0;  ///< All that are in the tree.
  std::uint64_t unnamed = 0;       ///< Those of code without a name.
  std::uint64_t calls = 0;
  std::uint64_t tail_calls = 0;
  // The results of returns.
  std::uint64_t matches = 0;         ///< They went to the caller that was expected.
  std::uint64_t branch_returns = 0;  ///< The same, by a branch that is not a return instruction.
  std::uint64_t deeper = 0;          ///< They went to a caller further down.
  std::uint64_t empty = 0;           ///< The call was before the trace, or before a gap.
  std::uint64_t mismatch = 0;        ///< No call was known for them, though others were.
  // The reactions.
  std::uint64_t resyncs = 0;   ///< All frames were closed, because the caller is another one.
  std::uint64_t unwinds = 0;   ///< Frames were closed down to a function that was live: longjmp().
  std::uint64_t switches = 0;  ///< Another thread went on.
  // Other events.
  std::uint64_t exceptions = 0;
  std::uint64_t exception_returns = 0;
  std::uint64_t lost_returns = 0;  ///< Exceptions that returned to an unexpected place.
  std::uint64_t gaps = 0;          ///< Including those by missing code.
  std::uint64_t confirmed = 0;     ///< Gaps after which the stack was still right.
  std::uint64_t missing_code = 0;  ///< How often code could not be read.
  std::uint64_t folded = 0;        ///< Calls beyond the greatest depth.
  /// Instructions on an unknown path, which are in no function.
  std::uint64_t pathless = 0;

  Quality& operator+=(const Quality& more);
  friend bool operator==(const Quality&, const Quality&) = default;

  [[nodiscard]] std::uint64_t returns() const {
    return matches + branch_returns + deeper + empty + mismatch;
  }
  /// Whether the stacks mean little, because too many returns found no call.
  [[nodiscard]] bool is_poor() const {
    return 4 * mismatch > returns() || 4 * missing_code > returns() + missing_code + calls;
  }
};

}  // namespace waymark::stacks
