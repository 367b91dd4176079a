// The wording of ETMv3 packets in listings.  etmv3.md gives it with each packet.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"
#include "waymark/etmv3/quirks.h"

namespace waymark::etmv3 {

/// "P_HDR : Atom P-header.; EEN": everything after the TAB of a listing line, without newline.
void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                  const ParserQuirks& quirks = {});

/// "P_HDR".
std::string_view packet_name(PacketType type);

/// "IRQ", "HardFault": the name of an exception number, which depends on the profile.
void write_exception_name(TextBuffer& out, std::uint32_t number, isa::Profile profile);

}  // namespace waymark::etmv3
