// The named fields of the packets whose layout is known.
#pragma once

#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/etmv4data/packet.h"
#include "waymark/protocol/fields.h"

namespace waymark::etmv4data {

using Field = BasicField<Packet>;

/// The fields of a type.  Static storage.
std::span<const Field> fields_of(PacketType type);

/// The keyword of a type: "marker_numbered", "address_f1".
std::string_view packet_keyword(PacketType type);

/// An empty packet of the type with this keyword, if it can be encoded.  kNotFound.
Result<Packet> packet_of_keyword(std::string_view keyword);

}  // namespace waymark::etmv4data
