// An STM source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/protocol/source.h"
#include "waymark/stm/config.h"

namespace waymark::stm {

/// Never fails.  With the quirk most_nibble_first_only the nibble order is CoreSight's.
Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options);

}  // namespace waymark::stm
