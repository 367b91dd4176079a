// The registers of an STM, and how its stream is read.  See stm-itm.md 1, 8.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"
#include "waymark/base/register_value.h"
#include "waymark/base/types.h"

namespace waymark::stm {

/// The order in which fields of several nibbles are sent.  Bytes always have the low nibble first.
enum class NibbleOrder : std::uint8_t {
  kMostFirst,   ///< As CoreSight hardware sends them.
  kLeastFirst,  ///< As MIPI's SyS-T simulator and Zephyr's STP writer do.
  /// kMostFirst, until frequencies, timestamps or an extended VERSION packet show the other order;
  /// see nibble_order.h.
  kAuto,
};

/// Decoding needs only the trace ID; the rest is compared with the trace, where it was given.
struct Config {
  RegisterValue stmtcsr = RegisterValue::assumed(0);
  RegisterValue stmdevid = RegisterValue::assumed(0xFF);
  RegisterValue stmspfeat3r = RegisterValue::assumed(0x10000);
  NibbleOrder order = NibbleOrder::kMostFirst;

  [[nodiscard]] constexpr TraceId trace_id() const {
    return static_cast<TraceId>(bits<22, 16>(stmtcsr));
  }
  /// Timestamps carry values; otherwise they are empty.
  [[nodiscard]] constexpr bool timestamps_enabled() const { return bit<1>(stmtcsr); }
  [[nodiscard]] constexpr std::uint32_t highest_master() const { return bits<7, 0>(stmdevid); }
  [[nodiscard]] constexpr std::uint32_t channel_count() const { return stmspfeat3r; }
};

}  // namespace waymark::stm
