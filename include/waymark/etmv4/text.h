// The wording of ETMv4 and ETE packets in listings.  See etmv4-ete.md 3.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// "I_ATOM_F3 : Atom format 3.; ENE": everything after the TAB of a listing line, without newline.
/// The configuration decides the exception names (M profile) and the trace info text (ETE).
void write_packet(TextBuffer& out, const Packet& packet, const Config& config);

/// "I_ATOM_F3".
std::string_view packet_name(PacketType type);

/// "IRQ", "HardFault": the name of an exception number, which depends on the profile.
void write_exception_name(TextBuffer& out, std::uint32_t number, isa::Profile profile);

}  // namespace waymark::etmv4
