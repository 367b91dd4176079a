// The registers of trace units that a perf.data file carries.  See perf-cs-etm.md 3.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/etm4x/register_image.h"

namespace waymark::etm4x {

struct PerfUnit {
  std::uint64_t cpu = 0;
  bool ete = false;
  RegisterImage registers{};  ///< TRCCONFIGR, TRCTRACEIDR, TRCIDR0 to 2, 8, TRCAUTHSTATUS, ...
};

/// The ETMv4 and ETE units of the file's AUXTRACE_INFO record; other kinds are skipped.
///
/// kBadData: not a perf.data file, or cut short, with the offset; kNotFound: no such record, or
/// none of cs_etm; kUnsupported: a file of the other byte order.
Result<std::vector<PerfUnit>> read_perf_metadata(Bytes file);

}  // namespace waymark::etm4x
