// The capabilities of a trace unit, read from its ID registers, and its environment.  See
// etm4x-programming.md 2.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "waymark/base/result.h"
#include "waymark/etm4x/quirks.h"

namespace waymark::etm4x {

/// The values of the other registers below mgmt/; nothing depends on them.
struct ManagementRegisters {
  std::uint32_t pdsr = 1;  ///< TRCPDSR: powered.
  std::uint32_t lsr = 0;
  std::uint32_t authstatus = 0;
  std::uint32_t devid = 0;
  std::uint32_t devtype = 0x13;
  std::array<std::uint32_t, 4> pidr{};
  std::uint32_t oslsr = 0x8;  ///< TRCOSLSR: a lock of its own, open.
  friend bool operator==(const ManagementRegisters&, const ManagementRegisters&) = default;
};

/// TRCIDR0 to TRCIDR5, TRCDEVARCH, and registers that only readers of the trace need.
struct IdRegisters {
  std::array<std::uint32_t, 6> idr{};
  std::uint32_t devarch = 0x47704A13;
  std::array<std::uint32_t, 6> idr8{};  ///< TRCIDR8 to TRCIDR13.
  ManagementRegisters mgmt{};
  friend bool operator==(const IdRegisters&, const IdRegisters&) = default;
};

enum class RegisterAccess : std::uint8_t { kMemoryMapped, kSystemRegisters };

/// Facts that the model cannot learn from the unit.
struct Environment {
  unsigned cpu = 0;
  RegisterAccess access = RegisterAccess::kMemoryMapped;
  bool kernel_at_el2 = false;  ///< VHE.
  bool init_pid_namespace = true;
  bool sink_active = true;  ///< A sink that the source reaches has enable_sink 1.
  bool claimed = false;     ///< By an external debugger.
  bool has_trf = false;     ///< FEAT_TRF; decides what ts_source reads.
  bool skip_power_up = false;
  bool threshold_erratum = false;        ///< TRCIDR3.CCITMIN 256 means 4 on this core.
  std::array<std::uint32_t, 8> sscsr{};  ///< TRCSSCSRn at probe.
  std::uint8_t unknown_sscsr = 0;        ///< Bit n: TRCSSCSRn was not read.
};

/// The driver's values, under the names of its files.  The bounds hold for all register values:
/// they are the sizes of the arrays in State.
struct Capabilities {
  bool instrp0 = false;
  bool trcbb = false;
  bool trccond = false;
  bool trccci = false;
  bool retstack = false;
  unsigned nr_event = 0;  ///< Event fields minus one.
  unsigned q_support = 0;
  unsigned ts_size = 0;
  unsigned ctxid_size = 0;
  unsigned vmid_size = 0;
  unsigned ccsize = 0;
  unsigned ccitmin = 0;
  unsigned s_ex_level = 0;
  unsigned ns_ex_level = 0;
  bool trc_error = false;
  bool syncpr = false;  ///< The period is fixed.
  bool stallctl = false;
  bool sysstall = false;
  bool nooverflow = false;
  unsigned nr_pe = 0;        ///< Minus one.
  unsigned nr_addr_cmp = 0;  ///< Pairs, at most 8.
  unsigned nr_pe_cmp = 0;
  unsigned nr_resource = 0;  ///< Pairs of selectors, at most 16.
  unsigned nr_ss_cmp = 0;    ///< At most 8.
  unsigned numcidc = 0;      ///< At most 8.
  unsigned numvmidc = 0;     ///< At most 8.
  unsigned nr_ext_inp = 0;
  unsigned numextinsel = 0;
  bool atbtrig = false;
  bool lpoverride = false;
  bool power_up = false;      ///< TRCPDCR is used.
  unsigned nrseqstate = 0;    ///< 0 or 4.
  unsigned nr_seq_ctrls = 0;  ///< 0 or 3.
  unsigned nr_cntr = 0;       ///< At most 4.
  unsigned version = 0x40;    ///< 0x40 to 0x46 ETMv4, from 0x50 ETE.

  [[nodiscard]] bool is_ete() const { return version >= 0x50; }
};

Capabilities read_capabilities(const IdRegisters& id, const Environment& environment,
                               Quirks quirks = kAllQuirks);

/// Whether the driver accepts the unit.  kUnsupported with the reason.
Result<void> check_accepted(const IdRegisters& id, RegisterAccess access);

/// The capabilities of the unit for people, one per line.
std::string capability_text(const IdRegisters& id, const Capabilities& caps);

}  // namespace waymark::etm4x
