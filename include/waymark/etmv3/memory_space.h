// The memory that a processor sees in a context.
#pragma once

#include "waymark/element/element.h"
#include "waymark/image/image.h"

namespace waymark::etmv3 {

/// Where the decoder reads the code of elements with this context.
inline image::SpaceMask space_of(const Element& context) {
  return context.security == Security::kSecure ? image::kSpaceSecure : image::kSpaceNonSecure;
}

}  // namespace waymark::etmv3
