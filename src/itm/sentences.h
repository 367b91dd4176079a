// Sentences for registers that belong to another trace, and for bad packets.
#pragma once

#include <string_view>

#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// A whole sentence; empty if the packet contradicts nothing, or if ITM_TCR was not given.
std::string_view contradiction(const Config& config, const Packet& packet);

/// What is wrong with a bad packet, as a whole sentence.
std::string_view sentence_of(const Packet& packet);

}  // namespace waymark::itm
