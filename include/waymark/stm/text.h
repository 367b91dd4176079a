// The wording of STM packets in listings.  See stm-itm.md 6.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

/// "D8MTS:8 bit data + marker + timestamp; Data=0xaa; TS=0x0000000000000001 ~[0x1]": everything
/// after the TAB of a listing line, without newline.
void write_packet(TextBuffer& out, const Packet& packet);

/// "D8", with or without a marker.
std::string_view packet_name(PacketType type);

}  // namespace waymark::stm
