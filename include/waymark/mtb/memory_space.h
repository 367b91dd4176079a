// The memory that decoding reads.
#pragma once

#include "waymark/element/element.h"
#include "waymark/image/image.h"

namespace waymark::mtb {

/// The records do not say whether the core is in Secure state, so any memory is read.
inline image::SpaceMask space_of(const Element& /*context*/) { return image::kSpaceAny; }

}  // namespace waymark::mtb
