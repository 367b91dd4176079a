// Packets of the toy protocol as values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::toy {

enum class PacketType : std::uint8_t {
  kNotSync,        ///< Bytes before the first kSync.
  kIncompleteEot,  ///< The trace ends inside it.
  kBadSequence,
  kReserved,
  kSync,
  kTime,
  kEvent,
  kValue,
};

/// One packet.
struct Packet {
  TraceIndex index = 0;     ///< That of its first byte.
  std::uint32_t value = 0;  ///< kTime: 14 bits; kValue: 14 bits.
  std::uint8_t number = 0;  ///< kEvent: 4 bits; kValue: the channel, 5 bits.
  std::uint8_t length = 0;  ///< In bytes.
  PacketType type = PacketType::kNotSync;
};
static_assert(std::is_trivially_copyable_v<Packet>);

constexpr bool is_bad(PacketType type) {
  return type == PacketType::kBadSequence || type == PacketType::kReserved;
}

}  // namespace waymark::toy
