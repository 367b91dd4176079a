// A packet as a line for people: the listing's form with the packet's bytes.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/protocol/source.h"

namespace waymark::outputs {

/// "Idx:12; ID:10; [0x01 0x00 ];\tI_TRACE_INFO : ..." and a newline.
void write_packet_line(TextBuffer& out, const PacketRef& packet, const Source& source);

/// Without the bytes: "Idx:12; ID:10;\tI_TRACE_INFO : ...".
void write_packet_line_without_bytes(TextBuffer& out, const PacketRef& packet,
                                     const Source& source);

}  // namespace waymark::outputs
