// Lengths of intervals, for people and programs.
#pragma once

#include <span>
#include <string>

#include "waymark/base/text_buffer.h"
#include "waymark/interval/intervals.h"

namespace waymark::outputs {

/// The measurements, of all sources together.
struct IntervalReport {
  std::string from{};  ///< As the user names them.
  std::string to{};
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t pairs = 0;
  struct Row {
    interval::Unit unit = interval::Unit::kTime;
    interval::Lengths lengths{};
  };
  std::vector<Row> rows{};  ///< Only of units that the trace measures in.
};

/// A table with a column for each unit; with `histogram`, one for the first unit below it.
void write_text(TextBuffer& out, const IntervalReport& report, bool histogram);
/// A line for each unit, with the histogram.
void write_json(TextBuffer& out, const IntervalReport& report);
/// A header, and a line for each unit.
void write_csv(TextBuffer& out, const IntervalReport& report);

}  // namespace waymark::outputs
