// The records of an MTB as a source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/image/image.h"
#include "waymark/mtb/config.h"
#include "waymark/protocol/source.h"

namespace waymark::mtb {

/// `image` must outlive the source; it may be nullptr only when `options.decode` is false.
/// kInvalidArgument: `image` is nullptr although `options.decode` is true.
Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options);

}  // namespace waymark::mtb
