// The named fields of the toy protocol's packets, and their names in listings.
#pragma once

#include <span>
#include <string_view>

#include "packet.h"
#include "waymark/base/text_buffer.h"
#include "waymark/protocol/fields.h"

namespace waymark::toy {

using Field = BasicField<Packet>;

/// The fields of a type.  Static storage.
std::span<const Field> fields_of(PacketType type);

/// "TOY_VALUE".
std::string_view packet_name(PacketType type);

/// "TOY_VALUE : channel=3 value=0x12", without newline.
void write_packet(TextBuffer& out, const Packet& packet);

}  // namespace waymark::toy
