// Packets to bytes: the inverse of the parser.  See ptm.md 3 to 6.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  The configuration
/// gives the lengths, and determines whether cycle counts are present.
///
/// Where the fields leave a choice:
/// - Branch and waypoint update: as few address bytes as can hold `address.update_bits` in the
///   instruction set `isa`, to which the value is aligned; all five for 32 and for 0.  Five bytes
///   name the instruction set: T32 for ThumbEE, which `context.alt_isa` distinguishes.  For an
///   unknown one at most four can be encoded.  `info_bytes` needs at least two address bytes, in a
///   waypoint update five.
/// - A-sync: `length` - 1 zeros; with length 0, five.
/// - Timestamp: `timestamp_bits` / 7 bytes, or all for 48 and 64; with 0, as few as hold the value.
/// - I-sync: ThumbEE is T32 with `context.alt_isa`.
///
/// kInvalidArgument: the type is not that of a packet, or a field cannot hold its value.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

}  // namespace waymark::ptm
