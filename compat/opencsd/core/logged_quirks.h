// Quirks of the environment, with a word in the log for names that are none.
#pragma once

#include "quirk_choice.h"

namespace waymark::compat {

/// For a tree that is made.
frames::Quirks frame_quirks();

}  // namespace waymark::compat
