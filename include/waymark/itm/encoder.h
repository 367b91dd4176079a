// Packets to bytes: the inverse of the parser.  See stm-itm.md 11.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  `size` is used
/// unchanged, so a value can have more bytes than it needs; a local timestamp of size 0 is the
/// short form.  An alignment synchronisation has `length` bytes, or six if that is 0.
///
/// kInvalidArgument: the type is not that of a packet, or a field cannot hold its value.
Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out);

/// The fewest payload bytes that hold the packet's value, source and flags.
std::uint8_t least_size(const Packet& packet);

}  // namespace waymark::itm
