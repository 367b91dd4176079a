// The registers of a PTM (PFT 1.0 and 1.1), and what decoding needs from them.  See ptm.md
// 1.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"
#include "waymark/base/register_value.h"
#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::ptm {

/// Registers; the defaults are a PFT 1.1 unit with every option off.
struct Config {
  RegisterValue etmidr = RegisterValue::assumed(0x4100F310);
  RegisterValue etmcr = RegisterValue::assumed(0);
  RegisterValue etmccer = RegisterValue::assumed(0);
  std::uint32_t etmtraceidr = 0;
  isa::Core core;

  [[nodiscard]] constexpr TraceId trace_id() const {
    return static_cast<TraceId>(etmtraceidr & 0x7F);
  }

  /// X of PFT 1.X.
  [[nodiscard]] constexpr unsigned minor_version() const { return bits<7, 4>(etmidr); }

  /// Atoms, branches, timestamps and most I-syncs carry a cycle count.
  [[nodiscard]] constexpr bool cycle_accurate() const { return bit<12>(etmcr); }
  /// Bytes of a context ID: 0, 1, 2 or 4.
  [[nodiscard]] constexpr unsigned context_id_bytes() const {
    const unsigned size = bits<15, 14>(etmcr);
    return size == 3 ? 4 : size;
  }
  [[nodiscard]] constexpr bool return_stack() const { return bit<23>(etmccer) && bit<29>(etmcr); }
  /// DMB and DSB are waypoints.
  [[nodiscard]] constexpr bool barrier_waypoints() const { return bit<24>(etmccer); }
  /// 48 or 64.
  [[nodiscard]] constexpr unsigned timestamp_bits() const {
    return minor_version() != 0 && bit<29>(etmccer) ? 64 : 48;
  }
  /// Timestamps count in Gray code, not in binary.
  [[nodiscard]] constexpr bool gray_timestamps() const {
    return minor_version() == 0 || !bit<28>(etmccer);
  }
};

}  // namespace waymark::ptm
