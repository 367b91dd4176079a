// Packets to bytes: the parser's mirror.  See ptm.md 3 to 6.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  The configuration
/// gives the lengths, and says whether cycle counts are there at all.
///
/// Where the fields leave a choice:
/// - Branch and waypoint update: as few address bytes as carry `address.update_bits` in the
///   instruction set `isa`, whose alignment the value has; all five for 32 and for 0.  Five bytes
///   name the instruction set: T32 for ThumbEE, whose difference is `context.alt_isa`.  For an
///   unknown one at most four can be encoded.  `info_bytes` needs two address bytes or more, in a
///   waypoint update five.
/// - A-sync: `length` - 1 zeros; with length 0, five.
/// - Timestamp: `timestamp_bits` / 7 bytes, or all for 48 and 64; with 0, as few as hold the value.
/// - I-sync: ThumbEE is T32 with `context.alt_isa`.
///
/// kInvalidArgument: a type that is no packet, or a value that its field cannot hold.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

}  // namespace waymark::ptm
