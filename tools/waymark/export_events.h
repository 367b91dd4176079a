// export of what happened, in order.
#pragma once

#include <string>
#include <vector>

#include "input_options.h"
#include "selection.h"
#include "waymark/exports/table.h"
#include "window.h"

namespace waymark::cli {

struct EventExport {
  const exports::Format& format;  ///< With make_events.
  const InputOptions& input;
  const std::vector<std::string>& inputs;
  const std::string& output;
  const SelectionOptions& selection;
  const WindowOptions& window;
};

/// Writes the events of one input.  The result is the exit code.
int export_events(const EventExport& wanted);

}  // namespace waymark::cli
