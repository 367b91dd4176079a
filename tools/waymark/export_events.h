// export of what happened, in order.
#pragma once

#include <string>
#include <vector>

#include "export_messages.h"
#include "input_options.h"
#include "output.h"
#include "selection.h"
#include "waymark/exports/table.h"
#include "window.h"

namespace waymark::cli {

struct EventExport {
  const exports::Format& format;
  const InputOptions& input;
  const std::vector<std::string>& inputs;
  const std::string& output;
  const SelectionOptions& selection;
  const WindowOptions& window;
  const ExportMessages& messages;
};

/// Writes the events of one input.  The result is the exit code.
int export_events(const EventExport& wanted);
/// The same with this writer, for an input that was opened before.
int export_events(const EventExport& wanted, exports::EventWriter& writer,
                  bool print_notes = false);

/// The same of the input at `path`, which was opened before, to a writer that needs no text.
/// `output`: where else something is written.
int add_events(const EventExport& wanted, const std::string& path, exports::EventWriter& writer,
               Output& output);

}  // namespace waymark::cli
