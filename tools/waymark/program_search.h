// --programs: which of the user's programs a trace executed, and at which load address.
#pragma once

#include <string>
#include <vector>

#include "format.h"
#include "input_options.h"
#include "waymark/base/text_buffer.h"
#include "waymark/doctor/examination.h"

namespace waymark::cli {

class Command;

void add_program_search(Command& command, std::vector<std::string>& places);

/// Looks for the programs in `places`, which are files and folders, and appends what it finds.
/// `readings`: the input as it is; or twice, without a return stack and with one, to find out which
/// of these the programs agree with.  The exit code; kOk also if none was executed.
int search_programs(const std::vector<InputOptions>& readings,
                    const std::vector<std::string>& places, Format format, TextBuffer& out);

/// The options that say what was found in raw trace; the readings for search_programs().
std::vector<InputOptions> described_by(const doctor::Examination& found, const InputOptions& input);

}  // namespace waymark::cli
