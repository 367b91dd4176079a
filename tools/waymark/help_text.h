// The text of --help.
#pragma once

#include <string>

#include "option_table.h"

namespace waymark::cli {

/// Lines of at most 80 columns, as far as words allow.
std::string help_text(const CommandRow& command);

/// The program's own help ends with the exit codes.
std::string program_help_text(const CommandRow& program);

}  // namespace waymark::cli
