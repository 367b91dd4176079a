// Counting a capture: for count and annotate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exit_code.h"
#include "missing_programs.h"
#include "output.h"
#include "selection.h"
#include "waymark/count/counter.h"
#include "waymark/count/counts.h"
#include "waymark/count/itm_counts.h"
#include "waymark/inputs/capture.h"
#include "window.h"

namespace waymark::cli {

/// The counts, by source, in the order of Capture::sources().
struct Counted {
  std::vector<count::Counts> by_source;
  std::vector<count::ItmCounts> itm;
  std::vector<std::uint64_t> damage;  ///< Records of damage, by source.
  std::uint64_t all_damage = 0;       ///< Also those of the frames.
  TraceIndex read_to = 0;             ///< The trace was counted up to here.
  int code = kOk;                     ///< Not kOk: the rest of the trace is missing, and why.
};

/// The tasks that are selected; empty: all.
count::Counter::TaskFilter task_filter(const std::optional<Selection>& selection);

/// Totals, and what goes wrong, are the same on one thread and on several.  0 threads: as many as
/// are useful.
Counted count_all(inputs::Capture& capture, const std::optional<Selection>& selection,
                  unsigned threads);

/// Only what is in the window, which is open.
Counted count_window(inputs::Capture& capture, const std::optional<Selection>& selection,
                     Window& window, Output& output);

/// Leaves what was executed in the selected programs, and nothing that no program executed.
void keep_programs(Counted& counted, Selection& selection);

bool counted_something(const Counted& counted);

/// Says that no instruction of an input was counted and why, and which programs are missing, with
/// the remedy.  The exit code.  `missing`: nullptr if the capture is not a recording.
int report_nothing(std::string_view input, const inputs::Capture& capture,
                   const std::optional<Selection>& selection, const Window& window,
                   const MissingPrograms* missing);

}  // namespace waymark::cli
