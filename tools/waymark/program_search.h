// --programs: which of the user's programs a trace executed, and at which load address.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "format.h"
#include "input_options.h"
#include "waymark/base/text_buffer.h"
#include "waymark/doctor/examination.h"

namespace waymark::cli {

void add_program_search(CLI::App& command, std::vector<std::string>& places);

/// Looks for the programs in `places`, which are files and folders, and appends what it finds.  The
/// exit code; kOk also if none was executed.
int search_programs(const InputOptions& input, const std::vector<std::string>& places,
                    Format format, TextBuffer& out);

/// The options that say what was found in raw trace.
InputOptions described_by(const doctor::Examination& found, InputOptions input);

}  // namespace waymark::cli
