// The quirks that the environment selects; the log gets a warning for unknown names, and an error
// for an unknown level.
#pragma once

#include "quirk_choice.h"

namespace waymark::compat {

/// False: the level is not known, and the log says so.
bool level_is_known();

/// For a new tree.
frames::Quirks frame_quirks();

}  // namespace waymark::compat
