// One run of trc_pkt_lister after its options are read; see trc-pkt-lister.md.
#pragma once

#include "log.h"
#include "options.h"

namespace waymark::compat {

/// Returns the exit status.
int run_lister(const ListerOptions& options, Log& log);

}  // namespace waymark::compat
