// The wording of data stream packets.  The reference has none; this one follows its style for the
// instruction stream.  See etmv4-data.md 2.
#pragma once

#include <optional>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/etmv4data/packet.h"

namespace waymark::etmv4data {

/// "D_NUM_DS_MKR : Data Synchronisation Marker - Numbered.; 3", without newline.
void write_packet(TextBuffer& out, const Packet& packet);

/// "D_P1_F1".
std::string_view packet_name(PacketType type);

/// The type with this name.
std::optional<PacketType> packet_of_name(std::string_view name);

}  // namespace waymark::etmv4data
