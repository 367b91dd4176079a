// Runs both sides in turn over one capture and keeps the results.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/capture.h"

namespace waymark::bench {

/// Several passes of one side.
struct Series {
  Counts counts;                ///< The counts of one pass; the same for all.
  std::vector<double> seconds;  ///< One per pass, in the order of running.
  [[nodiscard]] bool ran() const { return !seconds.empty(); }
  [[nodiscard]] double best() const;
  [[nodiscard]] double median() const;
};

struct Row {
  Work work = Work::kPackets;
  Series own;
  Series reference;
  std::uint64_t warm_allocations = 0;  ///< Waymark's, in the second pass with one decoder.
  double warm_seconds = 0;
  /// Why there is no ratio: one side failed, or the sides disagree.  Empty: comparable.
  std::string remark;
  bool disagrees = false;  ///< Both sides ran and their counts differ.
  bool failed = false;     ///< Waymark's side failed.

  [[nodiscard]] bool comparable() const { return own.ran() && reference.ran() && !disagrees; }
};

struct Plan {
  unsigned repetitions = 5;
  bool reference = true;
};

/// All rows of one capture, in the order of Work.
std::array<Row, kWorkCount> measure(const Capture& capture, const Plan& plan);

/// "packets only" and so on.
std::string_view work_name(Work work);

}  // namespace waymark::bench
