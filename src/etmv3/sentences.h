// Sentences for what is wrong with a packet.
#pragma once

#include <string_view>

#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// For a bad packet, or for an A-sync whose first zeros a cut packet took; in static storage.
/// Contradictions of the registers are handled elsewhere.
std::string_view sentence_of(const Packet& packet);

}  // namespace waymark::etmv3
