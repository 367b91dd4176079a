// Faults of packets.
#pragma once

#include "waymark/protocol/packet_fault.h"
#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

protocol::PacketFault fault_of(Defect defect);

/// The contradiction of the registers that a packet shows; kNone: none.  See stm-itm.md 8.
Finding contradiction(const Config& config, const Packet& packet);

}  // namespace waymark::stm
