// Packets to bytes: the parser's mirror.  See etmv3.md 3 to 7.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  Every field that the
/// type carries is taken as it stands.  The configuration gives the layout; whether it allows the
/// header at all is not asked, so that streams with errors can be made.
///
/// Where the fields leave a choice:
/// - Branches, and the second address of an I-sync with `lsip`: `address.update_bits` low bits are
///   sent, in as few bytes as carry them; 0 or 32 is the form of five bytes, which also tells the
///   instruction set.  In the shorter forms `isa` must be the one that the reader has.
/// - Exception information: as few bytes as hold it; `exception.has_hyp` asks for the second.
/// - P-headers: `format` 0 takes the first that can say it, or, without atoms, one cycle.
/// - Timestamp: `timestamp_bits` / 7 bytes; with 0, as few as hold the value.
/// - Data addresses: `transfer.address.update_bits` low bits, in as few bytes as carry them; 0 or
/// 32
///   is the form of five bytes, which also tells the endianness.
/// - Values: `transfer.size` bytes, 0, 1, 2 or 4.
///
/// kInvalidArgument: a type that is no packet, or a value that its field cannot hold.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

/// The longest P-header for the oldest of `count` atoms, 1 <= count <= 32: its atoms and count. Bit
/// i of `atoms` is the i-th oldest.  In cycle-accurate trace each atom has one cycle.
Packet longest_p_header(std::uint32_t atoms, unsigned count, bool cycle_accurate);

}  // namespace waymark::etmv3
