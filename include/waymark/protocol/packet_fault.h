// Faults of packets.
#pragma once

#include <cstdint>

#include "waymark/base/diagnostic.h"

namespace waymark::protocol {

struct PacketFault {
  Fault fault = Fault::kNone;
  Finding finding = Finding::kNone;
  std::uint8_t number = 0;  ///< As in Diagnostic.
};

}  // namespace waymark::protocol
