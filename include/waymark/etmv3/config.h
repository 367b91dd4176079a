// The registers of an ETMv3 trace unit, and what decoding needs from them.
// See etmv3.md 1.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"
#include "waymark/base/register_value.h"
#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::etmv3 {

/// Registers; the defaults are an ETMv3.4 on a v7-A core with all options off.
struct Config {
  RegisterValue etmcr = RegisterValue::assumed(0);
  RegisterValue etmidr = RegisterValue::assumed(0x4100F240);
  RegisterValue etmccer = RegisterValue::assumed(0);
  std::uint32_t etmtraceidr = 0;
  isa::Core core;

  [[nodiscard]] constexpr TraceId trace_id() const {
    return static_cast<TraceId>(etmtraceidr & 0x7F);
  }

  /// The X of ETMv3.X.
  [[nodiscard]] constexpr unsigned minor_version() const { return bits<7, 4>(etmidr); }
  /// Branch packets use the alternative encoding.
  [[nodiscard]] constexpr bool alternative_branches() const {
    return bit<20>(etmidr) && minor_version() >= 4;
  }
  /// The Hyp bit of I-sync packets is meaningful.
  [[nodiscard]] constexpr bool has_virtualization() const { return bit<26>(etmccer); }
  [[nodiscard]] constexpr unsigned timestamp_bits() const { return bit<29>(etmccer) ? 64 : 48; }
  /// Timestamps count in Gray code, not in binary.  Binary if the register is not known: all units
  /// of which a capture is known count so.
  [[nodiscard]] constexpr bool gray_timestamps() const {
    return etmccer.given() && !bit<28>(etmccer);
  }
  /// The largest number of bytes in the payload of a timestamp packet.
  [[nodiscard]] constexpr unsigned timestamp_bytes() const {
    return timestamp_bits() == 64 ? 9 : 7;
  }

  [[nodiscard]] constexpr bool data_values() const { return bit<2>(etmcr); }
  [[nodiscard]] constexpr bool data_addresses() const { return bit<3>(etmcr); }
  [[nodiscard]] constexpr bool data_trace() const { return data_values() || data_addresses(); }
  /// Transfers between core and coprocessors are traced as data.
  [[nodiscard]] constexpr bool coprocessor_transfers() const { return bit<1>(etmcr); }
  /// No instruction is traced.
  [[nodiscard]] constexpr bool data_only() const { return bit<20>(etmcr); }
  [[nodiscard]] constexpr bool cycle_accurate() const { return bit<12>(etmcr); }
  /// The number of bytes in a context ID: 0, 1, 2 or 4.
  [[nodiscard]] constexpr unsigned context_id_bytes() const {
    const unsigned size = bits<15, 14>(etmcr);
    return size == 3 ? 4 : size;
  }

  /// Exceptions are numbered as in v7-M.
  [[nodiscard]] constexpr bool v7m() const {
    return core.arch == isa::Arch::kV7 && core.profile == isa::Profile::kM;
  }
};

}  // namespace waymark::etmv3
