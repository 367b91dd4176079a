// Starts a unit as perf does.  See etm4x-programming.md 10.
#include <algorithm>
#include <array>

#include "waymark/etm4x/mode.h"
#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {
namespace {

constexpr std::size_t kMostFilters = 8;
constexpr std::uint32_t kDefaultThreshold = 0x100;

bool is_range(const PerfFilter& filter) { return filter.size != 0; }

Outcome check_filters(const PerfRequest& request) {
  const auto& filters = request.filters;
  if (filters.size() > kMostFilters) {
    return refuse(Errno::kOpNotSupp, "at most 8 address filters are accepted");
  }
  for (const PerfFilter& filter : filters) {
    if (filter.action == FilterAction::kFilter && !is_range(filter)) {
      return refuse(Errno::kInval, "a filter needs a size");
    }
    if (filter.action != FilterAction::kFilter && is_range(filter)) {
      return refuse(Errno::kOpNotSupp, "start and stop filters take no size");
    }
  }
  const auto ranges = std::ranges::count_if(filters, is_range);
  if (ranges != 0 && static_cast<std::size_t>(ranges) != filters.size()) {
    return refuse(Errno::kOpNotSupp, "ranges and start or stop filters cannot be mixed");
  }
  return {};
}

}  // namespace

std::expected<RegisterImage, Refusal> Unit::perf_start(const PerfRequest& request) {
  if (use == Use::kSysfs) return refuse(Errno::kBusy, "the unit is enabled through sysfs");
  if (use == Use::kPerf) disable({});
  if (auto ok = check_filters(request); !ok) return std::unexpected(ok.error());
  if (auto ok = program_perf(request); !ok) return std::unexpected(ok.error());
  use = Use::kPerf;
  return image();
}

Outcome Unit::program_perf(const PerfRequest& request) {
  const State before = state;
  state = State{};
  if (!quirks.perf_forgets_secure_levels) {
    state.s_ex_level = before.s_ex_level;
    state.sscsr = before.sscsr;
  }
  if (request.exclude_kernel) state.mode = mode::kExcludeKernel;
  if (request.exclude_user) state.mode = mode::kExcludeUser;
  set_probe_defaults();
  if (auto ok = set_filters(request); !ok) return ok;

  if (request.cycacc) {
    if (!caps.trccci && !quirks.perf_cycles_ungated) {
      return refuse(Errno::kInval, "the unit has no cycle counting");
    }
    state.configr |= kConfigCycles;
    const std::uint32_t wanted = request.cc_threshold & 0xFFF;
    state.ccctlr = std::max(wanted != 0 ? wanted : kDefaultThreshold, caps.ccitmin);
  }
  if (request.timestamp) {
    if (auto ok = set_timestamp_interval(); !ok) return ok;
    state.configr |= kConfigTimestamps;
  }
  const bool is_alias_of_1 = request.contextid && !environment.kernel_at_el2;
  const bool is_alias_of_2 = request.contextid && environment.kernel_at_el2;
  if ((request.contextid1 || is_alias_of_1) && environment.init_pid_namespace) {
    state.configr |= kConfigContextId;
  }
  if (request.contextid2 || is_alias_of_2) {
    if (!environment.kernel_at_el2) {
      return refuse(Errno::kInval, "contextid2 needs a kernel at EL2; use contextid1");
    }
    if (environment.init_pid_namespace) state.configr |= kConfigVmid | kConfigVmidOption;
  }
  if (request.retstack && caps.retstack) state.configr |= kConfigReturnStack;
  if (request.branch_broadcast) {
    if (!caps.trcbb) return refuse(Errno::kInval, "the unit has no branch broadcast");
    state.configr |= kConfigBranchBroadcast;
  }
  if (request.configid == 0) return {};
  if (request.configid != Configuration::kAutofdoHash) {
    return refuse(Errno::kInval, "no configuration has this configid; autofdo is 0xa7c3dddd");
  }
  if (request.preset > Configuration::kPresets) {
    return refuse(Errno::kInval, "the configuration has presets 1 to 9");
  }
  load_configuration(request.preset);
  return {};
}

Outcome Unit::set_timestamp_interval() {
  if (caps.nr_cntr == 0) {
    return refuse(Errno::kInval, "timestamps need a counter and the unit has none");
  }
  const auto counters = std::span(state.cntvr).first(caps.nr_cntr);
  const auto counter = static_cast<unsigned>(std::ranges::find(counters, 0U) - counters.begin());
  if (counter == caps.nr_cntr) return refuse(Errno::kNoSpc, "no counter is free for timestamps");
  const unsigned selectors = caps.nr_resource * 2;
  unsigned selector = 2;
  while (selector < selectors && state.rsctlr[selector] != 0) ++selector;
  const bool passes_unchecked = selectors == 0 && quirks.perf_selector_without_pairs;
  if (selector >= selectors && !passes_unchecked) {
    return refuse(Errno::kNoSpc, "no resource selector is free for timestamps");
  }
  state.cntvr[counter] = state.cntrldvr[counter] = 1;
  state.cntctlr[counter] = 0x10001;  // Always counts, and reloads itself.
  state.rsctlr[selector] = 0x20000 | 1U << counter;
  state.tsctlr = selector;
  return {};
}

Outcome Unit::set_filters(const PerfRequest& request) {
  if (request.filters.empty()) {
    state.mode |= mode::kStartStop;
    state.victlr |= kVictlrStarted;
    return {};
  }
  const std::uint64_t control = std::uint64_t{excluded_levels()} << 8;
  const unsigned comparators = caps.nr_addr_cmp * 2;
  for (const PerfFilter& filter : request.filters) {
    const unsigned step = is_range(filter) ? 2 : 1;
    unsigned index = 0;
    const auto is_free = [&](unsigned i) {
      return state.tag[i] == Tag::kNone && (step == 1 || state.tag[i + 1] == Tag::kNone);
    };
    while (index < comparators && !is_free(index)) index += step;
    if (index >= comparators) {
      return refuse(Errno::kNoSpc, "the unit has too few address comparators for the filters");
    }
    if (is_range(filter)) {
      state.acvr[index] = filter.start;
      state.acvr[index + 1] = filter.start + filter.size;
      state.acatr[index] = state.acatr[index + 1] = control;
      state.tag[index] = state.tag[index + 1] = Tag::kRange;
      state.viiectlr |= 1U << (index / 2);
      state.victlr |= kVictlrStarted;
      state.vissctlr = 0;
      continue;
    }
    const bool starts = filter.action == FilterAction::kStart;
    state.acvr[index] = filter.start;
    state.acatr[index] = control;
    state.tag[index] = starts ? Tag::kStart : Tag::kStop;
    state.vissctlr |= 1U << (starts ? index : 16 + index);
    state.viiectlr = 0;
    if (request.start_stop_started) {
      state.victlr |= kVictlrStarted;
    } else {
      state.victlr &= ~kVictlrStarted;
    }
  }
  return {};
}

}  // namespace waymark::etm4x
