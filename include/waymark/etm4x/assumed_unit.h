// The trace unit that registers belong to, as far as the registers say what it can do.
#pragma once

#include "waymark/etm4x/capabilities.h"
#include "waymark/etm4x/register_image.h"

namespace waymark::etm4x {

struct AssumedUnit {
  IdRegisters id{};
  Environment environment{};
  bool known = false;  ///< TRCIDR3 to TRCIDR5 are all among the registers.
};

/// ID registers that `image` leaves out are those of a unit that has everything, so that nothing
/// looks wrong only because it is not known.  Without TRCDEVARCH, `ete` chooses the architecture.
AssumedUnit assumed_unit(const RegisterImage& image, bool ete);

}  // namespace waymark::etm4x
