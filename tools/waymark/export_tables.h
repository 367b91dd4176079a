// export of tables: a folder with a file for each table and input.
#pragma once

#include "export_messages.h"
#include "export_options.h"

namespace waymark::cli {

/// Writes the tables of all inputs.  The result is the exit code.
int export_tables(const ExportOptions& options, const ExportMessages& messages);

}  // namespace waymark::cli
