// The quirks that the environment selects; the log gets a warning for unknown names.
#pragma once

#include "quirk_choice.h"

namespace waymark::compat {

/// For a new tree.
frames::Quirks frame_quirks();

}  // namespace waymark::compat
