// How listings print MTB records.  OpenCSD does not decode MTB trace, so the format is our own.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/isa/instruction.h"
#include "waymark/mtb/packet.h"

namespace waymark::mtb {

/// "MTB_BRANCH : src=0x00000102; dst=0x0000010c; A=0; S=1", without newline.
void write_packet(TextBuffer& out, const Packet& packet);

/// "MTB_BRANCH".
std::string_view packet_name(PacketType type);

/// "HardFault", "IRQ3"; "unknown" for 0, the number of an exception that is not known.  The profile
/// makes no difference.
void write_exception_name(TextBuffer& out, std::uint32_t number, isa::Profile profile);

}  // namespace waymark::mtb
