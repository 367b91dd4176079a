// An ETMv4 data stream as a source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/etmv4data/config.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4data {

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options);

}  // namespace waymark::etmv4data
