// The comparison of two runs for people and programs.  Fields: docs/output-formats.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/diff/comparison.h"

namespace waymark::outputs {

/// A function that is being executed, and where.
struct DifferenceFrame {
  std::string function{};     ///< As in the source; empty: not known.
  std::uint64_t address = 0;  ///< In the memory of the run; 0: not known.
  std::uint64_t offset = 0;   ///< From the start of the function.
  std::string file{};         ///< Empty: not known.
  std::uint32_t line = 0;
};

/// Where one run was when it parted from the other: at the last instruction that both executed.
struct DifferencePlace {
  bool found = false;
  TraceIndex index = 0;  ///< In the trace.
  /// The innermost first; the first has the address of the instruction.
  std::vector<DifferenceFrame> stack{};
  std::string exception{};  ///< The name of the exception that this run took; may be empty.
};

struct DifferenceReport {
  const diff::Comparison& comparison;
  std::array<std::string, diff::kSides> inputs{};
  /// Those of the first divergences, in the same order.
  std::vector<std::array<DifferencePlace, diff::kSides>> places{};
  std::vector<std::string> ignored{};  ///< Functions that were left out.
  bool exceptions_ignored = false;
  std::size_t most_rows = 20;  ///< Each table in text has at most these.
};

void write_text(TextBuffer& out, const DifferenceReport& report);
/// A line for each program, thread, divergence, function and block, and last a summary.
void write_json(TextBuffer& out, const DifferenceReport& report);
/// One divergence, by its number, as an object, without a line end.
void write_json(TextBuffer& out, const DifferenceReport& report, std::size_t number);

/// The event, as a sentence: "A conditional branch was taken in A, but not in B."
std::string sentence_of(const DifferenceReport& report, std::size_t number);
/// How often the runs diverge like this.
std::uint64_t times_of(const DifferenceReport& report, std::size_t number);
/// Where: "partition+0x38 (quicksort.c:27), 0x4001c4"; empty: not known.
std::string where_of(const DifferenceReport& report, std::size_t number);
/// The name of its thread, for people.
std::string thread_of(const DifferenceReport& report, std::size_t number);

}  // namespace waymark::outputs
