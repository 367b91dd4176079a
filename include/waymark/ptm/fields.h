// The named fields of every packet type.  See ptm.md 4 to 6.
#pragma once

#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/protocol/fields.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

using Field = BasicField<Packet>;

/// The fields of a type, in the order of the packet's bytes.  Static storage.
std::span<const Field> fields_of(PacketType type);

/// The keyword of a packet type: "branch", "atom".
std::string_view packet_keyword(PacketType type);

/// An empty packet of the type with this keyword.  kNotFound.
Result<Packet> packet_of_keyword(std::string_view keyword);

/// waymark::set_field() for the packet's type.
inline Result<void> set_field(Packet& packet, std::string_view name, std::string_view text) {
  return waymark::set_field<Packet>(fields_of(packet.type), packet_keyword(packet.type), packet,
                                    name, text);
}

/// waymark::for_each_field() for the packet's type.
template <class Visitor>
void for_each_field(const Packet& packet, Visitor&& visitor) {
  waymark::for_each_field<Packet>(fields_of(packet.type), packet, visitor);
}

/// The keywords of all packets of the protocol.
std::span<const std::string_view> packet_keywords();

}  // namespace waymark::ptm
