// Faults of packets.
#pragma once

#include "waymark/etmv3/packet.h"
#include "waymark/protocol/packet_fault.h"

namespace waymark::etmv3 {

/// For a packet that is bad or has an error in it, or for an A-sync whose first zeros a cut packet
/// took.  RegisterCheck finds contradictions of the registers.
Finding finding_of(const Packet& packet);

/// The same for any packet; Fault::kNone: nothing is wrong with it.
protocol::PacketFault fault_of(const Packet& packet);

}  // namespace waymark::etmv3
