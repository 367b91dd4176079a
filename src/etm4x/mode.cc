#include "waymark/etm4x/mode.h"

#include <array>

namespace waymark::etm4x {
namespace {

void put(std::uint32_t& reg, std::uint32_t bits, bool on) { reg = on ? reg | bits : reg & ~bits; }

// One bit of TRCCONFIGR, which is set if the unit has the feature.
template <std::uint32_t Bits, auto Feature>
void config_bit(Unit& u, std::uint32_t field) {
  put(u.state.configr, Bits, field != 0 && u.caps.*Feature != 0);
}

template <auto Register, std::uint32_t Bits, auto Feature>
void gated_bit(Unit& u, std::uint32_t field) {
  put(u.state.*Register, Bits, field != 0 && u.caps.*Feature);
}

void load_store(Unit& u, std::uint32_t field) {
  if (!u.caps.instrp0) return;
  // In this field, bit 0 means loads, bit 1 stores, and bit 2 both.  In the architecture's field,
  // bit 0 means loads and bit 1 stores.
  const std::uint32_t both = (field & 4) != 0 ? 3 : field & 3;
  u.state.configr = (u.state.configr & ~kConfigP0) | both << 1;
}

void conditional(Unit& u, std::uint32_t field) {
  if (!u.caps.trccond) return;
  u.state.configr = (u.state.configr & ~kConfigConditional) | field << 8;
}

void q_elements(Unit& u, std::uint32_t field) {
  const bool counted = field != 0 && u.caps.q_support != 0;
  const bool all = (field & 2) != 0 && (u.caps.q_support & 2) != 0;
  u.state.configr &= ~kConfigQ;
  if (counted) u.state.configr |= 1U << 13;
  if (all) u.state.configr |= 1U << 14;
}

void instruction_priority(Unit& u, std::uint32_t field) {
  const bool gated = !u.quirks.instruction_priority_ungated && !u.caps.stallctl;
  put(u.state.stallctlr, kStallPriority, field != 0 && !gated);
}

void trace_reset(Unit& u, std::uint32_t field) {
  const bool gated = !u.quirks.trace_reset_ungated && !u.caps.trc_error;
  put(u.state.victlr, kVictlrTraceReset, field != 0 && !gated);
}

void start_stop(Unit& u, std::uint32_t field) { put(u.state.victlr, kVictlrStarted, field != 0); }

// One call for the two bits together.
void exclude_levels(Unit& u, std::uint32_t field) {
  if (field == 0 && u.quirks.levels_stay_excluded) return;
  u.state.victlr = (u.state.victlr & ~kVictlrLevels) | u.excluded_levels() << kVictlrLevelShift;
}

constexpr std::array kRows = {
    ModeRow{"EXCLUDE", 0, 0, "none; later addr_range writes of two numbers exclude", nullptr},
    ModeRow{"LOAD, STORE, LOAD_STORE", 3, 1, "TRCCONFIGR.INSTP0 [2:1]", load_store},
    ModeRow{"BB", 4, 4, "TRCCONFIGR.BB [3]",
            config_bit<kConfigBranchBroadcast, &Capabilities::trcbb>},
    ModeRow{"CYCACC", 5, 5, "TRCCONFIGR.CCI [4]", config_bit<kConfigCycles, &Capabilities::trccci>},
    ModeRow{"CTXID", 6, 6, "TRCCONFIGR.CID [6]",
            config_bit<kConfigContextId, &Capabilities::ctxid_size>},
    ModeRow{"VMID", 7, 7, "TRCCONFIGR.VMID [7]", config_bit<kConfigVmid, &Capabilities::vmid_size>},
    ModeRow{"COND", 10, 8, "TRCCONFIGR.COND [10:8]", conditional},
    ModeRow{"TIMESTAMP", 11, 11, "TRCCONFIGR.TS [11]",
            config_bit<kConfigTimestamps, &Capabilities::ts_size>},
    ModeRow{"RETURNSTACK", 12, 12, "TRCCONFIGR.RS [12]",
            config_bit<kConfigReturnStack, &Capabilities::retstack>},
    ModeRow{"QELEM", 14, 13, "TRCCONFIGR.QE [14:13]", q_elements},
    ModeRow{"data trace and stall", 18, 15, "none", nullptr},
    ModeRow{"ATB_TRIGGER", 19, 19, "TRCEVENTCTL1R.ATB [11]",
            gated_bit<&State::eventctl1r, kEventAtbTrigger, &Capabilities::atbtrig>},
    ModeRow{"LPOVERRIDE", 20, 20, "TRCEVENTCTL1R.LPOVERRIDE [12]",
            gated_bit<&State::eventctl1r, kEventLowPower, &Capabilities::lpoverride>},
    ModeRow{"ISTALL_EN", 21, 21, "TRCSTALLCTLR.ISTALL [8]",
            gated_bit<&State::stallctlr, kStallInstructions, &Capabilities::stallctl>},
    ModeRow{"DSTALL_EN", 22, 22, "none", nullptr},
    ModeRow{"INSTPRIO", 23, 23, "TRCSTALLCTLR.INSTPRIORITY [10]", instruction_priority},
    ModeRow{"NOOVERFLOW", 24, 24, "TRCSTALLCTLR.NOOVERFLOW [13]",
            gated_bit<&State::stallctlr, kStallNoOverflow, &Capabilities::nooverflow>},
    ModeRow{"TRACE_RESET", 25, 25, "TRCVICTLR.TRCRESET [10]", trace_reset},
    ModeRow{"TRACE_ERR", 26, 26, "TRCVICTLR.TRCERR [11]",
            gated_bit<&State::victlr, kVictlrTraceError, &Capabilities::trc_error>},
    ModeRow{"VIEWINST_STARTSTOP", 27, 27, "TRCVICTLR.SSSTATUS [9]", start_stop},
    ModeRow{"EXCL_KERN, EXCL_USER", 31, 30, "TRCVICTLR.EXLEVEL [22:16]", exclude_levels},
};

}  // namespace

std::span<const ModeRow> mode_table() { return kRows; }

void store_mode(Unit& unit, std::uint64_t value) {
  unit.state.mode = static_cast<std::uint32_t>(value) & mode::kStored;
  for (const ModeRow& row : kRows) {
    if (row.apply == nullptr) continue;
    const unsigned width = row.high - row.low + 1U;
    row.apply(unit, unit.state.mode >> row.low & ((1U << width) - 1));
  }
}

}  // namespace waymark::etm4x
