// The register of an ITM, and what decoding needs from it.  See stm-itm.md 15.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "waymark/base/bits.h"
#include "waymark/base/register_value.h"
#include "waymark/base/types.h"
#include "waymark/itm/quirks.h"

namespace waymark::itm {

struct Config {
  RegisterValue itm_tcr = RegisterValue::assumed(0);
  /// The stream has no synchronisation packets: its first byte begins a packet, and so does the
  /// byte after a bad packet.  Many probes capture SWO in this way.
  bool starts_in_sync = false;
  Quirks quirks;
  /// DWT_COMP0..3, if known: they complete a PC or an address of which only the low bytes are sent.
  std::array<std::optional<std::uint32_t>, 4> comparators{};

  [[nodiscard]] constexpr TraceId trace_id() const {
    return static_cast<TraceId>(bits<22, 16>(itm_tcr));
  }
  [[nodiscard]] constexpr bool local_timestamps() const { return bit<1>(itm_tcr); }  // TSENA
  [[nodiscard]] constexpr bool hardware_packets() const { return bit<3>(itm_tcr); }  // DWTENA
  [[nodiscard]] constexpr bool global_timestamps() const { return bits<11, 10>(itm_tcr) != 0; }
  /// Ticks of the timestamp clock per tick of a local timestamp.  The prescaler counts only in
  /// asynchronous mode (SWOENA).
  [[nodiscard]] constexpr std::uint32_t prescale() const {
    return bit<4>(itm_tcr) ? 1U << 2 * bits<9, 8>(itm_tcr) : 1;
  }
};

}  // namespace waymark::itm
