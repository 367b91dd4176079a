// An ETMv3 source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/etmv3/config.h"
#include "waymark/image/image.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv3 {

/// `image` must outlive the source; it may be nullptr only when `options.decode` is false.
/// kUnsupported: the quirk data_trace_is_unsupported is on and the trace has data (etmv3.md 1);
/// `detail` names the register.
Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options);

}  // namespace waymark::etmv3
