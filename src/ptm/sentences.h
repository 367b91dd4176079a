// Sentences for registers that belong to another trace.
#pragma once

#include <string_view>

#include "waymark/ptm/packet.h"

namespace waymark::ptm {

/// A whole sentence; empty for kNone.
std::string_view sentence_of(Doubt doubt);

}  // namespace waymark::ptm
