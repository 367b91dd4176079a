// The toy protocol in the table of protocols.
#pragma once

#include <span>

#include "waymark/inputs/protocols.h"

namespace waymark::toy {

std::span<const inputs::ProtocolRow> toy_rows();

}  // namespace waymark::toy
