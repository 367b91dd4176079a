// The rows of a slice of a trace in the tables of Parquet, as the content of parts.
#pragma once

#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

/// The data for tables that cross slices.  Fields that are not wanted are empty.
struct SliceEvents {
  parallel::Seam seam{};
  bool has_content = false;  ///< Something was executed, or said.
  std::string messages{};    ///< What messages depend on, written by an EventWriter.
  std::string steps{};       ///< What calls depend on, written by a StepWriter.
  // The same of parallel::Slice::end, and its rows, written by an EventWriter.
  std::string end_messages{};
  std::string end_steps{};
  std::string end_rows{};
  /// The programs and other files that were read, besides those of the input.
  std::vector<Input> files{};
};

/// The same events always give the same bytes.
std::string encode(const SliceEvents& events);

/// kBadData: it is not the events of a slice.  Whether the texts are some, only their readers say.
Result<SliceEvents> read_slice_events(Bytes content);

/// The content of a part with Payload::kTableSlice.  What is not wanted is empty.
struct TableSlice {
  std::vector<DataFile> data{};  ///< The files with the rows of the slice.
  std::string events{};          ///< SliceEvents.
  std::string counts{};          ///< SliceCounts.
};

std::string encode(const TableSlice& slice);
/// kBadData: it is not one.
Result<TableSlice> read_table_slice(Bytes content);

}  // namespace waymark::shard
