// How listings print MTB records.  OpenCSD does not decode MTB trace, so the format is our own.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/mtb/packet.h"

namespace waymark::mtb {

/// "MTB_BRANCH : src=0x00000102; dst=0x0000010c; A=0; S=1", without newline.
void write_packet(TextBuffer& out, const Packet& packet);

/// "MTB_BRANCH".
std::string_view packet_name(PacketType type);

}  // namespace waymark::mtb
