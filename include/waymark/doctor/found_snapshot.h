// A snapshot of what was found in bytes without a description.
#pragma once

#include <string>

#include "waymark/base/result.h"
#include "waymark/doctor/examination.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::doctor {

/// The name of the file with the trace in such a snapshot.
inline constexpr std::string_view kTraceFile = "trace.bin";

/// The ini files for inputs::write_snapshot().  Each source of the trace of a core has a core of
/// the usual architecture, without memory.  kUnsupported: a snapshot cannot say how the bytes are
/// framed, or no source was found.
Result<inputs::Snapshot> snapshot_of(const Examination& found);

}  // namespace waymark::doctor
