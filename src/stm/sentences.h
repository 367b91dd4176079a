// Sentences about bad packets, for native use.
#pragma once

#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"
#include "waymark/tree/packet_source.h"

namespace waymark::stm {

/// A whole sentence with its remedy.
tree::PacketFault sentence_of(Defect defect);

/// A contradiction of the registers that a packet shows.
enum class Contradiction : std::uint8_t { kNone, kTimestamp, kMaster, kChannel };
inline constexpr std::size_t kContradictionCount = 4;

/// See stm-itm.md 8.
Contradiction contradiction(const Config& config, const Packet& packet);

/// A whole sentence; empty for kNone.
std::string_view sentence_of(Contradiction what);

}  // namespace waymark::stm
