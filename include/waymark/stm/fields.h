// The named fields of every packet.  See stm-itm.md 2 to 4.
#pragma once

#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/protocol/fields.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

using Field = BasicField<Packet>;

/// The fields of a packet, in the order of its nibbles, then the master and channel that apply to
/// it.  Static storage.
std::span<const Field> fields_of(const Packet& packet);

/// The keyword of a packet: "d8mts", "flag_ts", "c16".
std::string_view packet_keyword(const Packet& packet);

/// An empty packet with this keyword.  Its timestamp, if it has one, is sent in as few nibbles as
/// possible (Encoder::kFewestBits) once it is set.  kNotFound.
Result<Packet> packet_of_keyword(std::string_view keyword);

/// waymark::set_field() for the packet.
inline Result<void> set_field(Packet& packet, std::string_view name, std::string_view text) {
  return waymark::set_field<Packet>(fields_of(packet), packet_keyword(packet), packet, name, text);
}

/// waymark::for_each_field() for the packet.
template <class Visitor>
void for_each_field(const Packet& packet, Visitor&& visitor) {
  waymark::for_each_field<Packet>(fields_of(packet), packet, visitor);
}

/// All keywords that can be encoded, in the order of the opcodes, then "async".
std::span<const std::string_view> packet_keywords();

}  // namespace waymark::stm
