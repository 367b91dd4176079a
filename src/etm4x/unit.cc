#include "waymark/etm4x/unit.h"

#include <fmt/format.h>

#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {

// The registers that an enable writes, in their order.
class ImageBuilder {
 public:
  void put(std::string_view name, std::uint64_t value) { add(std::string(name), value, false); }
  void put(std::string_view stem, unsigned number, std::uint64_t value) {
    add(fmt::format("{}{}", stem, number), value, false);
  }
  void put_wide(std::string_view stem, unsigned number, std::uint64_t value) {
    add(fmt::format("{}{}", stem, number), value, true);
  }
  RegisterImage take() { return std::move(image_); }

 private:
  // Names are unique, so no search is needed.
  void add(std::string name, std::uint64_t value, bool wide) {
    image_.values_.push_back({std::move(name), value, wide});
  }
  RegisterImage image_;
};

namespace {

constexpr std::uint32_t kModeAfterProbe = mode::kStartStop;
constexpr std::uint32_t kTraceAlways = 0x01;
constexpr unsigned kFirstTraceId = 0x10;
constexpr unsigned kTraceIdEnd = 0x70;

}  // namespace

Unit::Unit(const IdRegisters& registers, const Environment& where, Quirks quirk_set)
    : id(registers),
      environment(where),
      quirks(quirk_set),
      caps(read_capabilities(registers, where, quirk_set)) {
  state.s_ex_level = caps.s_ex_level;
  state.mode = kModeAfterProbe;
  set_probe_defaults();
  state.victlr |= kVictlrStarted;
  for (unsigned i = 0; i < caps.nr_ss_cmp; ++i) state.sscsr[i] = where.sscsr[i];
}

void Unit::set_probe_defaults() {
  state.syncpr = kPeriodAfterProbe;
  state.victlr = kTraceAlways | excluded_levels() << kVictlrLevelShift;
}

std::uint32_t Unit::excluded_levels() const {
  const bool no_kernel = (state.mode & mode::kExcludeKernel) != 0;
  const bool no_user = (state.mode & mode::kExcludeUser) != 0;
  std::uint32_t levels = state.s_ex_level;
  if (!environment.kernel_at_el2) {
    levels |= 0x40;
    if (no_kernel) levels |= 0x20;
  } else if (no_kernel) {
    levels |= 0x40;
  }
  if (no_user) levels |= 0x10;
  return levels;
}

unsigned Unit::trace_id() {
  if (!allocated_trace_id) {
    const unsigned preferred = kFirstTraceId + 2 * environment.cpu;
    // No other unit has an ID, so the lowest one is free.
    allocated_trace_id = environment.cpu < kTraceIdEnd && preferred < kTraceIdEnd ? preferred : 1;
  }
  return *allocated_trace_id;
}

std::uint32_t Unit::live_configr() const {
  return static_cast<std::uint32_t>(written_.value("TRCCONFIGR"));
}

std::uint32_t Unit::live_pdcr() const {
  return use == Use::kIdle ? 0 : static_cast<std::uint32_t>(written_.value("TRCPDCR"));
}

RegisterImage Unit::image() {
  // etm4x-programming.md 14: an active configuration changes the driver's copy before the hardware.
  if (configuration.enabled && use != Use::kPerf) load_configuration(configuration.preset);
  State& s = state;
  ImageBuilder out;
  if (caps.nr_pe != 0) out.put("TRCPROCSELR", s.pe);
  out.put("TRCCONFIGR", s.configr);
  out.put("TRCAUXCTLR", 0);
  out.put("TRCEVENTCTL0R", s.eventctl0r);
  out.put("TRCEVENTCTL1R", s.eventctl1r);
  if (caps.stallctl) out.put("TRCSTALLCTLR", s.stallctlr);
  out.put("TRCTSCTLR", s.tsctlr);
  out.put("TRCSYNCPR", s.syncpr);
  out.put("TRCCCCTLR", s.ccctlr);
  out.put("TRCBBCTLR", s.bbctlr);
  out.put("TRCTRACEIDR", trace_id());
  out.put("TRCVICTLR", s.victlr);
  out.put("TRCVIIECTLR", s.viiectlr);
  out.put("TRCVISSCTLR", s.vissctlr);
  if (caps.nr_pe_cmp != 0) out.put("TRCVIPCSSCTLR", s.vipcssctlr);
  for (unsigned i = 0; i < caps.nr_seq_ctrls; ++i) out.put("TRCSEQEVR", i, s.seqevr[i]);
  if (caps.nrseqstate != 0) {
    out.put("TRCSEQRSTEVR", s.seqrstevr);
    out.put("TRCSEQSTR", s.seqstr);
  }
  if (caps.numextinsel != 0) out.put("TRCEXTINSELR", s.extinselr);
  for (unsigned i = 0; i < caps.nr_cntr; ++i) {
    out.put("TRCCNTRLDVR", i, s.cntrldvr[i]);
    out.put("TRCCNTCTLR", i, s.cntctlr[i]);
    out.put("TRCCNTVR", i, s.cntvr[i]);
  }
  // Selectors 0 and 1 are fixed.
  for (unsigned i = 2; i < caps.nr_resource * 2; ++i) out.put("TRCRSCTLR", i, s.rsctlr[i]);
  for (unsigned i = 0; i < caps.nr_ss_cmp; ++i) {
    if (s.sscr[i] != 0 || s.sspcicr[i] != 0) s.sscsr[i] &= ~kShotDone;
    out.put("TRCSSCCR", i, s.sscr[i]);
    out.put("TRCSSCSR", i, s.sscsr[i]);
    if (caps.nr_pe_cmp != 0 && (s.sscsr[i] & kShotHasPeInputs) != 0) {
      out.put("TRCSSPCICR", i, s.sspcicr[i]);
    }
  }
  for (unsigned i = 0; i < caps.nr_addr_cmp * 2; ++i) {
    out.put_wide("TRCACVR", i, s.acvr[i]);
    out.put_wide("TRCACATR", i, s.acatr[i]);
  }
  for (unsigned i = 0; i < caps.numcidc; ++i) out.put_wide("TRCCIDCVR", i, s.cidcvr[i]);
  out.put("TRCCIDCCTLR", 0, s.cidcctlr[0]);
  if (caps.numcidc > 4) out.put("TRCCIDCCTLR", 1, s.cidcctlr[1]);
  for (unsigned i = 0; i < caps.numvmidc; ++i) out.put_wide("TRCVMIDCVR", i, s.vmidcvr[i]);
  out.put("TRCVMIDCCTLR", 0, s.vmidcctlr[0]);
  if (caps.numvmidc > 4) out.put("TRCVMIDCCTLR", 1, s.vmidcctlr[1]);
  if (caps.power_up) out.put("TRCPDCR", 8);
  if (caps.is_ete()) out.put("TRCRSR", 0x1000);
  out.put("TRCPRGCTLR", 1);
  written_ = out.take();
  return written_;
}

Outcome Unit::enable() {
  if (use == Use::kSysfs) return {};
  if (!environment.sink_active) {
    return refuse(Errno::kInval,
                  "no sink that this source reaches is active: write 1 to enable_sink of one");
  }
  if (use == Use::kPerf) return refuse(Errno::kBusy, "a perf session uses the unit");
  if (environment.claimed) return refuse(Errno::kBusy, "an external debugger has claimed the unit");
  hardware_ = image();
  use = Use::kSysfs;
  return {};
}

void Unit::disable_through_sysfs() {
  if (use == Use::kSysfs) disable({});
}

void Unit::disable(std::span<const std::pair<std::string, std::uint64_t>> registers) {
  read_back(registers);
  use = Use::kIdle;
}

void Unit::read_back(std::span<const std::pair<std::string, std::uint64_t>> registers) {
  const auto held = [&](std::string_view stem, unsigned number, std::uint32_t& copy) {
    const std::string name = fmt::format("{}{}", stem, number);
    if (const auto value = written_.find(name)) copy = static_cast<std::uint32_t>(*value);
    for (const auto& [given, value] : registers) {
      if (given == name) copy = static_cast<std::uint32_t>(value);
    }
  };
  for (unsigned i = 0; i < caps.nr_ss_cmp; ++i) held("TRCSSCSR", i, state.sscsr[i]);
  for (unsigned i = 0; i < caps.nr_cntr; ++i) held("TRCCNTVR", i, state.cntvr[i]);
  if (configuration_running_) {
    configuration.saved_counter0 = state.cntvr[0];
    configuration.saved_counter1 = state.cntvr[1];
    configuration_running_ = false;
  }
}

void Unit::load_configuration(unsigned preset) {
  const auto window = static_cast<std::uint32_t>(preset == 0 ? configuration.window
                                                             : Configuration::kDefaultWindow);
  const auto period = preset == 0 ? static_cast<std::uint32_t>(configuration.period)
                                  : Configuration::kPeriods[preset - 1];
  State& s = state;
  s.rsctlr[2] = 0x20001;  // Counter 0 at zero.
  s.rsctlr[3] = 0x20002;  // Counter 1 at zero.
  s.cntrldvr[0] = window;
  s.cntctlr[0] = 0x10001;  // Always counts, and reloads itself.
  s.cntrldvr[1] = period;
  s.cntctlr[1] = 0x8102;  // Counts when counter 0 is zero, reloads when both are.
  s.seqevr[0] = 0x0081;
  s.seqevr[1] = 0;
  s.victlr |= 3;  // Trace only while counter 1 is zero.
  s.cntvr[0] = configuration.saved_counter0;
  s.cntvr[1] = configuration.saved_counter1;
  configuration_running_ = true;
}

}  // namespace waymark::etm4x
