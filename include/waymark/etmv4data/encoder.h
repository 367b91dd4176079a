// Packets to bytes, for tests and trace scripts.  See etmv4-data.md 2.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etmv4data/packet.h"

namespace waymark::etmv4data {

/// Appends the bytes of a packet whose layout is known.  A timestamp has `timestamp_bits` / 7
/// bytes, or 9 for 64, or as few as hold the value for 0.  kInvalidArgument: any other packet, or a
/// field that cannot hold its value.
Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out);

}  // namespace waymark::etmv4data
