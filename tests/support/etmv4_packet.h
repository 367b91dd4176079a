// ETMv4 packets for tests, made by hand.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

inline Packet of(PacketType type) {
  Packet packet;
  packet.type = type;
  return packet;
}

/// `letters` oldest first.
inline Packet atoms(PacketType type, std::string_view letters) {
  Packet packet = of(type);
  packet.atom_count = static_cast<std::uint8_t>(letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (letters[i] == 'E') packet.atoms |= 1U << i;
  return packet;
}

}  // namespace waymark::etmv4
