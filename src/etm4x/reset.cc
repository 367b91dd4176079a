// The file `reset`.  See etm4x-programming.md 7.
#include "waymark/etm4x/files.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

// mode bits LOAD, STORE, data address, data value.
constexpr std::uint32_t kModeDataBits = 0x18006;
constexpr std::uint32_t kPeriodAfterReset = 8;

template <class Slots>
void clear(Slots& slots, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; ++i) slots[i] = {};
}

}  // namespace

void reset_unit(Unit& unit, bool clear_mode) {
  State& s = unit.state;
  const Capabilities& c = unit.caps;
  if (clear_mode) s.mode = 0;
  s.mode &= ~kModeDataBits;
  s.configr &= ~(kConfigP0 | kConfigData);
  if (!unit.quirks.reset_keeps_features) s.configr = s.ccctlr = s.bbctlr = 0;

  s.eventctl0r = s.eventctl1r = s.tsctlr = s.stallctlr = 0;
  if (!c.syncpr) {
    s.syncpr = unit.quirks.reset_sync_period_8 ? kPeriodAfterReset : kPeriodAfterProbe;
  }
  s.victlr = 0x01;
  if (c.nr_addr_cmp > 0) {
    s.mode |= mode::kStartStop;
    s.victlr |= kVictlrStarted;
  }
  if (!unit.quirks.reset_traces_all_levels) {
    s.victlr |= unit.excluded_levels() << kVictlrLevelShift;
  }
  s.viiectlr = s.vissctlr = s.vipcssctlr = 0;

  clear(s.seqevr, 0, c.nr_seq_ctrls);
  s.seqrstevr = s.seqstr = s.extinselr = 0;
  clear(s.cntrldvr, 0, c.nr_cntr);
  clear(s.cntctlr, 0, c.nr_cntr);
  clear(s.cntvr, 0, c.nr_cntr);
  clear(s.rsctlr, 2, c.nr_resource * 2);
  clear(s.sscr, 0, c.nr_ss_cmp);
  clear(s.sspcicr, 0, c.nr_ss_cmp);
  clear(s.acvr, 0, c.nr_addr_cmp * 2);
  clear(s.acatr, 0, c.nr_addr_cmp * 2);
  clear(s.tag, 0, c.nr_addr_cmp * 2);
  clear(s.cidcvr, 0, c.numcidc);
  clear(s.vmidcvr, 0, c.numvmidc);
  s.cidcctlr = {};
  s.vmidcctlr = {};
  s.addr_idx = s.cntr_idx = s.res_idx = s.sshot_idx = s.ctxid_idx = s.vmid_idx = 0;

  unit.allocated_trace_id.reset();
  unit.configuration.window = Configuration::kDefaultWindow;
  unit.configuration.period = Configuration::kDefaultPeriod;
}

}  // namespace waymark::etm4x
