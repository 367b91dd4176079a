// An ITM source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/itm/config.h"
#include "waymark/protocol/source.h"

namespace waymark::itm {

/// No image is needed, because ITM has no instruction trace.  `options.quirks` replace
/// `config.quirks`.
Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options);

}  // namespace waymark::itm
