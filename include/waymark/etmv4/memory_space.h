// The memory that a processor sees in a context.
#pragma once

#include "waymark/element/element.h"
#include "waymark/image/image.h"

namespace waymark::etmv4 {

/// Where the decoder reads the code of elements with this context.
inline image::SpaceMask space_of(const Element& context) {
  const bool secure = context.security == Security::kSecure;
  if ((context.flags & kElementElValid) == 0)
    return secure ? image::kSpaceSecure : image::kSpaceNonSecure;
  using namespace image;
  static constexpr SpaceMask kSpaces[4][4] = {{kSpaceEl1S, kSpaceEl1S, kSpaceEl2S, kSpaceEl3},
                                              {kSpaceEl1N, kSpaceEl1N, kSpaceEl2, kSpaceEl3},
                                              {kSpaceRoot, kSpaceRoot, kSpaceRoot, kSpaceRoot},
                                              {kSpaceEl1R, kSpaceEl1R, kSpaceEl2R, kSpaceRoot}};
  return kSpaces[static_cast<unsigned>(context.security)][context.exception_level & 3];
}

}  // namespace waymark::etmv4
