// The memory that a processor sees in a context.
#pragma once

#include "waymark/element/element.h"
#include "waymark/image/image.h"

namespace waymark::ptm {

/// Where the decoder reads the code of elements with this context.
inline image::SpaceMask space_of(const Element& context) {
  if ((context.flags & kElementElValid) != 0) return image::kSpaceEl2;
  return context.security == Security::kSecure ? image::kSpaceSecure : image::kSpaceNonSecure;
}

}  // namespace waymark::ptm
