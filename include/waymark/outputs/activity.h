// The activity in a trace right now, as text for a terminal or one JSON object.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "waymark/base/text_buffer.h"
#include "waymark/count/activity.h"
#include "waymark/outputs/style.h"

namespace waymark::outputs {

/// The content of a display.
struct ActivityReport {
  std::string name{};  ///< The name of the input.
  double seconds = 0;  ///< The length of the interval.
  double total_seconds = 0;
  std::uint64_t bytes = 0;  ///< In the interval.
  std::uint64_t total_bytes = 0;
  std::uint64_t gaps = 0;  ///< In total.
  count::ActivityCounts now{};
  count::ActivityCounts total{};
  std::deque<count::Activity::PortLine> lines{};
};

/// What a place is called.
struct ActivityName {
  std::string function{};  ///< The linker's name; empty: it has none.
  std::string program{};   ///< Empty: it is not shown.
};

struct ActivityView {
  std::size_t most = 10;  ///< Functions.
  std::size_t width = 0;  ///< Columns of a line; longer lines are cut.  0: they are not.
  /// Names the places; empty: addresses are shown.
  std::function<ActivityName(const count::ActivityPlace& place)> name{};
  Style style{};
};

void write_text(TextBuffer& out, const ActivityReport& report, const ActivityView& view);
void write_json(TextBuffer& out, const ActivityReport& report, const ActivityView& view);

}  // namespace waymark::outputs
