// Faults of packets.
#pragma once

#include "waymark/base/diagnostic.h"
#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// The contradiction of ITM_TCR that a packet shows; kNone: none, or the register was not given.
Finding contradiction(const Config& config, const Packet& packet);

/// For a bad packet, or for a synchronisation that begins in the packet before it.
Finding finding_of(const Packet& packet);

}  // namespace waymark::itm
