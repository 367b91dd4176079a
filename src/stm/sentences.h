// What is said of bad packets in native use.
#pragma once

#include "../tree/packet_source.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

/// A whole sentence with its remedy.
tree::PacketFault sentence_of(Defect defect);

}  // namespace waymark::stm
