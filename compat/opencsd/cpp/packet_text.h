// The listing's text of a packet's structure, as a string.
#pragma once

#include <string>

#include "core/level_text.h"
#include "core/packet_struct.h"

namespace waymark::compat {

inline void packet_text(ocsd_trace_protocol_t protocol, const void* packet, std::string& to) {
  TextBuffer text;
  write_at_level(text, [&](TextBuffer& out) { write_packet_struct(out, protocol, packet); });
  to.assign(text.view());
}

}  // namespace waymark::compat
