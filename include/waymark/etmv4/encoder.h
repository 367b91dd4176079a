// Packets to bytes: the parser's mirror.  Fact sheet etmv4-ete.md section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// Appends the bytes of `packet` to `out`.  Every field that the type carries is taken as it stands
/// (addresses by `address.value` and the type's width, `address.update_bits` for the length of short
/// forms).  kInvalidArgument: a type that is no packet, or a value that its field cannot hold.
Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out);

}  // namespace waymark::etmv4
