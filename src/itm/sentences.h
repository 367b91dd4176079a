// What is said of registers that are not those of the trace.
#pragma once

#include <string_view>

#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// A whole sentence; empty where the packet contradicts nothing, or ITM_TCR is not known.
std::string_view contradiction(const Config& config, const Packet& packet);

}  // namespace waymark::itm
