// The toy protocol as a source for a decode tree.
#pragma once

#include <memory>

#include "config.h"
#include "waymark/base/result.h"
#include "waymark/protocol/source.h"

namespace waymark::toy {

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options);

}  // namespace waymark::toy
