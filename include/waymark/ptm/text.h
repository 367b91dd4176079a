// The wording of PTM packets in listings.  See ptm.md 4 to 6.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/ptm/packet.h"
#include "waymark/ptm/quirks.h"

namespace waymark::ptm {

/// "ATOM : Atom packet; EENEE; ": everything after the TAB of a listing line, without newline.
void write_packet(TextBuffer& out, const Packet& packet, const Quirks& quirks = {});

/// "BRANCH_ADDRESS".
std::string_view packet_name(PacketType type);

/// "IRQ"; "Unknown" beyond 15.
std::string_view exception_name(std::uint32_t number);

/// "ARM(32)", "Thumb2".
std::string_view isa_text(isa::Isa isa);

/// "Periodic", "Debug Exit".
std::string_view reason_text(IsyncReason reason);

}  // namespace waymark::ptm
