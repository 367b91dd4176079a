// Packets to bytes: the inverse of the parser.  See etmv3.md 3 to 7.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  Every field that the
/// type carries is used unchanged.  The configuration gives the layout, but it does not have to
/// allow the header, so that streams with errors can be made.
///
/// Where the fields leave a choice:
/// - Branches, and the second address of an I-sync with `lsip`: `address.update_bits` low bits
///   are sent, in as few bytes as can hold them; 0 or 32 is the form with five bytes, which also
///   gives the instruction set.  In the shorter forms `isa` must be the one that the reader has.
/// - Exception information: as few bytes as can hold it; `exception.has_hyp` asks for the
///   second.
/// - P-headers: `format` 0 takes the first that can express it, or, without atoms, one cycle.
/// - Timestamp: `timestamp_bits` / 7 bytes; with 0, as few as can hold the value.
/// - Data addresses: `transfer.address.update_bits` low bits, in as few bytes as can hold them;
///   0 or 32 is the form with five bytes, which also gives the endianness.
/// - Values: `transfer.size` bytes, 0, 1, 2 or 4.
///
/// kInvalidArgument: the type is not that of a packet, or a field cannot hold its value.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

/// The longest P-header for the oldest of `count` atoms, 1 <= count <= 32: its atoms and count. Bit
/// i of `atoms` is the i-th oldest.  In cycle-accurate trace each atom has one cycle.
Packet longest_p_header(std::uint32_t atoms, unsigned count, bool cycle_accurate);

}  // namespace waymark::etmv3
