// What is wrong with a packet, in sentences.
#pragma once

#include <string_view>

#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// Of a bad packet, or an A-sync of which a cut packet took the first zeros; in static storage.
/// What a packet says of the registers is told apart from it.
std::string_view sentence_of(const Packet& packet);

}  // namespace waymark::etmv3
