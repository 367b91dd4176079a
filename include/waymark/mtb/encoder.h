// Records to bytes, for trace scripts, tests and synthetic captures.  See mtb.md 1.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/mtb/packet.h"

namespace waymark::mtb {

/// Appends the eight bytes of `packet` to `out`, which is unchanged after an error.
/// kInvalidArgument: an odd address, a source that belongs to another type of record, a record
/// whose bytes would be those of unused memory, or kIncompleteEot.
Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out);

}  // namespace waymark::mtb
