// The named fields of MTB records.  See mtb.md 1.
#pragma once

#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/mtb/packet.h"
#include "waymark/protocol/fields.h"

namespace waymark::mtb {

using Field = BasicField<Packet>;

/// The fields of a type.  Static storage.
std::span<const Field> fields_of(PacketType type);

/// The keyword of a type: "branch", "exception_return".
std::string_view packet_keyword(PacketType type);

/// An empty packet of the type with this keyword.  kNotFound.
Result<Packet> packet_of_keyword(std::string_view keyword);

}  // namespace waymark::mtb
