// The AUXTRACE_INFO record of cs_etm: the trace units of a recording.  See perf-cs-etm.md 3.
#pragma once

#include "waymark/base/result.h"
#include "waymark/perf/recording.h"

namespace waymark::perf {

/// Fills version, pmu, snapshot and units of `to` from the body of the record at `offset`.
Result<void> read_units(Bytes body, ByteOrder order, std::uint64_t offset, Recording& to);

}  // namespace waymark::perf
