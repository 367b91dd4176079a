// The wording of ITM packets in listings.  See stm-itm.md 13.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/itm/packet.h"
#include "waymark/itm/quirks.h"

namespace waymark::itm {

/// "ITM_SWIT: {src id: 0x03}  0xbb; 'Software Stimulus write packet'": everything after the TAB of
/// a listing line, without newline.
void write_packet(TextBuffer& out, const Packet& packet, const Quirks& quirks = {});

/// "ITM_SWIT".
std::string_view packet_name(PacketType type);

}  // namespace waymark::itm
