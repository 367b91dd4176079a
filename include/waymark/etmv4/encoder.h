// Packets to bytes: the inverse of the parser.  See etmv4-ete.md 2.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// Appends the bytes of `packet` to `out`, which is unchanged after an error.  Every field that the
/// type carries is used unchanged.  The configuration gives the lengths, but it does not have to
/// allow the header, so that streams with errors can be made.
///
/// Where the fields leave a choice:
/// - Short addresses: `address.update_bits` up to 9 (IS1: 8) give one payload byte, up to 17
///   (16) two.  Only the bits that the form carries are encoded.
/// - Trace info: `value` holds the section bits of PLCTL; KEY is `cycle_count`, WNDW is
///   `commit`; `has_spec` implies the SPEC bit.
/// - Timestamp: `timestamp_bits` / 7 bytes, or 9 for 64; with 0, as few as hold the value.
/// - Cycle counts: the COUNT field is `cycle_count - cc_threshold`.  Format 1 without
///   `has_count` is the form with an unknown count.  Format 2 is 0x0C if that can hold the
///   commit count.
/// - Conditional result format 1: `match_index` is the header's [2:0], `value` holds the results
///   (second one in [7:4]), `cycle_count` and `commit` the keys.  Formats 2 and 4 and
///   conditional instruction formats 2 and 3: `value`; format 1: the key in `cycle_count`;
///   conditional result format 3: the token string in `cycle_count`.
///
/// kInvalidArgument: the type is not that of a packet, or a field cannot hold its value.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

/// The longest atom packet that holds the oldest of `count` atoms: its type, atoms and count.  Bit
/// i of `atoms` is the i-th oldest; 1 <= count <= 32.
Packet longest_atom_packet(std::uint32_t atoms, unsigned count);

}  // namespace waymark::etmv4
