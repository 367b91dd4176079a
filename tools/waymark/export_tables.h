// export of tables: a folder with a file for each table and input.
#pragma once

#include "export_messages.h"
#include "export_options.h"
#include "table_folder.h"

namespace waymark::cli {

/// The tables that the options name.
std::vector<std::string> wanted_tables(const ExportOptions& options);

/// Writes the tables of one input, which has this number, to a folder.  The result is the exit code
/// of the input alone.  If it is neither kOk nor kDamaged, the input has no files.
int write_tables(const ExportOptions& options, const ExportMessages& messages,
                 const TableFolder& folder, const std::string& path, std::size_t number);

/// Writes the tables of all inputs.  The result is the exit code.
int export_tables(const ExportOptions& options, const ExportMessages& messages);

}  // namespace waymark::cli
