// The registers of an ETMv4 or ETE trace unit, and what decoding needs from them.
// See etmv4-ete.md 1.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"
#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::etmv4 {

/// Plain register values; the defaults are an ETMv4.0 on a v7-A core.
struct Config {
  std::uint32_t trcidr0 = 0x28000EA1;
  std::uint32_t trcidr1 = 0x4100F403;
  std::uint32_t trcidr2 = 0x00000488;
  std::uint32_t trcidr8 = 0;
  std::uint32_t trcidr9 = 0;
  std::uint32_t trcidr10 = 0;
  std::uint32_t trcidr11 = 0;
  std::uint32_t trcidr12 = 0;
  std::uint32_t trcidr13 = 0;
  std::uint32_t trcconfigr = 0x000000C1;
  std::uint32_t trctraceidr = 0;
  std::uint32_t trcdevarch = 0;  ///< Only for ETE.
  bool ete = false;
  isa::Core core;

  /// An ETE 1.0 on an AArch64 core.
  static constexpr Config ete_default() {
    Config c;
    c.ete = true;
    c.trcidr1 = 0x4100FFF3;
    c.trcdevarch = 0x47705A13;
    c.core.arch = isa::Arch::kAA64;
    return c;
  }

  [[nodiscard]] constexpr TraceId trace_id() const {
    return static_cast<TraceId>(trctraceidr & 0x7F);
  }

  /// major << 4 | minor: 0x40..0x46 for ETMv4, 0x50..0x53 for ETE.
  [[nodiscard]] constexpr unsigned version() const {
    return ete ? bits<15, 12>(trcdevarch) << 4 | bits<19, 16>(trcdevarch)
               : bits<11, 8>(trcidr1) << 4 | bits<7, 4>(trcidr1);
  }
  [[nodiscard]] constexpr unsigned major_version() const { return version() >> 4; }
  [[nodiscard]] constexpr unsigned minor_version() const { return version() & 0xF; }

  [[nodiscard]] constexpr bool has_cycle_counting() const { return bit<7>(trcidr0); }
  /// Cycle count packets do not carry a commit count.
  [[nodiscard]] constexpr bool commit_mode_1() const {
    return bit<29>(trcidr0) && has_cycle_counting();
  }
  /// Transaction Start is a P0 element.
  [[nodiscard]] constexpr bool transaction_start_is_p0() const { return !bit<30>(trcidr0); }
  [[nodiscard]] constexpr bool has_q() const { return bits<16, 15>(trcidr0) != 0; }
  /// The unit marks the place to which a timestamp refers (ETMv4.6, ETE), so a timestamp before the
  /// first marker has no place.
  [[nodiscard]] constexpr bool timestamp_markers() const {
    return version() >= 0x46 && bit<23>(trcidr0);
  }
  /// The number of bytes of the context ID in context packets: 0 or 4.
  [[nodiscard]] constexpr unsigned context_id_bytes() const {
    return bits<9, 5>(trcidr2) == 4 ? 4 : 0;
  }
  /// The number of bytes of the VMID in context packets: 0, 1, 2 or 4.
  [[nodiscard]] constexpr unsigned vmid_bytes() const {
    switch (bits<14, 10>(trcidr2)) {
      case 1:
        return 1;
      case 2:
        return version() > 0x40 ? 2 : 0;
      case 4:
        return version() > 0x40 ? 4 : 0;
      default:
        return 0;
    }
  }
  /// The width of the cycle counter.
  [[nodiscard]] constexpr unsigned cycle_count_bits() const { return bits<28, 25>(trcidr2) + 12; }
  /// WFI and WFE are traced as branches.
  [[nodiscard]] constexpr bool wfx_waypoints() const {
    return bit<31>(trcidr2) && version() >= 0x43;
  }
  [[nodiscard]] constexpr std::uint32_t max_speculation() const { return trcidr8; }

  [[nodiscard]] constexpr bool cycle_count_enabled() const { return bit<4>(trcconfigr); }
  [[nodiscard]] constexpr bool return_stack_enabled() const { return bit<12>(trcconfigr); }
  /// Loads or stores are P0 elements: atoms cannot be followed.
  [[nodiscard]] constexpr bool load_store_p0() const { return bits<2, 1>(trcconfigr) != 0; }
  /// Conditional non-branch instructions are traced.
  [[nodiscard]] constexpr bool conditional_trace() const {
    const unsigned cond = bits<10, 8>(trcconfigr);
    return bit<6>(trcidr0) && (cond == 1 || cond == 2 || cond == 3 || cond == 7);
  }
  [[nodiscard]] constexpr bool data_trace() const {
    return bits<4, 3>(trcidr0) == 3 && load_store_p0() && bits<17, 16>(trcconfigr) != 0;
  }
};

}  // namespace waymark::etmv4
