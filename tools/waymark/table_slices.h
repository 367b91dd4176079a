// Tables of captures that are cut into slices: for shard and merge.
#pragma once

#include <cstddef>
#include <vector>

#include "export_messages.h"
#include "export_options.h"
#include "slice_join.h"
#include "table_folder.h"
#include "waymark/shard/data_files.h"

namespace waymark::cli {

/// As count_slice().  The rows of the slice become a file of the job.
int record_tables(const shard::Folder& folder, const ExportOptions& options, const Refuse& refuse,
                  shard::Part& part);

/// Writes the tables of a whole capture, from the parts of its slices, the first of which is the
/// shard `first`.  The files of the job that belong to them are added to `files`.  The exit code
/// for the capture.  `failed`: not kOk if nothing can be merged.
int join_table_slices(const shard::Folder& folder, std::size_t first, const ExportOptions& options,
                      const ExportMessages& messages, const TableFolder& tables,
                      std::vector<shard::DataFile>& files, int& failed);

}  // namespace waymark::cli
