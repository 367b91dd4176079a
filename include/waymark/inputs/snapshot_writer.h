// Writes snapshots that read_snapshot() reads back.  See snapshot-format.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::inputs {

/// A capture or a memory dump: its name within the folder and its bytes, which the caller keeps.
struct SnapshotFile {
  std::string name;
  Bytes bytes;
};

/// An ini file of a snapshot as text.
struct SnapshotText {
  std::string name;
  std::string text;
  friend bool operator==(const SnapshotText&, const SnapshotText&) = default;
};

/// The ini files of `snapshot`: snapshot.ini, one for each device, and the trace ini.
///
/// Names that are empty in the model are chosen: Device::file becomes "device_<n>.ini", trace_file
/// "trace.ini", TraceBuffer::section "buffer<n>".  Not used: directory, version (always 1.0),
/// device file numbers, buffer_list, TraceBuffer::sources, line numbers.  A device is written for
/// each entry of `devices`, in that order.
///
/// kInvalidArgument: a name or text that the format cannot represent (reading it back would give
/// another one), which `detail` quotes, or a name that is used twice.
Result<std::vector<SnapshotText>> snapshot_texts(const Snapshot& snapshot);

/// Makes the folder `directory` if necessary and writes the ini files and `files` into it,
/// replacing files of the same name.  File names are relative, without `..`; sub-folders are made.
///
/// kInvalidArgument as above, or a file name that is not allowed or used twice; then nothing is
/// written.  kIo: the system refused; earlier files remain.
Result<void> write_snapshot(const Snapshot& snapshot, std::span<const SnapshotFile> files,
                            const std::string& directory);

}  // namespace waymark::inputs
