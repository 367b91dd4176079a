// An ETMv4 or ETE source for a decode tree.
#pragma once

#include <memory>

#include "waymark/base/result.h"
#include "waymark/etmv4/config.h"
#include "waymark/image/image.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {

/// `image` must outlive the source; it may be nullptr only when `options.decode` is false.
/// kUnsupported: the registers select a mode that cannot be decoded to elements (etmv4-ete.md 4.1);
/// `detail` names the register.  With data trace or loads and stores as P0 elements there are all
/// elements except instruction ranges.
Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options);

}  // namespace waymark::etmv4
