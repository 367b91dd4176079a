#include "waymark/etm4x/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/bits.h"

namespace waymark::etm4x {
namespace {

// The value that perf writes if AUX_OUTPUT_HW_ID records give the ID; etm4x-programming.md 12.
bool unused_trace_id(std::uint64_t value) { return bit<31>(static_cast<std::uint32_t>(value)); }

class Explainer {
 public:
  Explainer(const RegisterImage& image, const IdRegisters& id, const Capabilities& caps,
            bool all_comparators)
      : image_(image), id_(id), caps_(caps), all_comparators_(all_comparators) {
    out_.plan = plan_of(image, caps);
  }

  Explanation run() {
    where();
    when();
    decoder();
    problems_of_filter();
    problems_of_events();
    problems_of_features();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool known(std::string_view name) const { return image_.find(name).has_value(); }
  [[nodiscard]] std::uint32_t reg(std::string_view name) const {
    return static_cast<std::uint32_t>(image_.value(name));
  }
  template <class... Args>
  void traces(fmt::format_string<Args...> text, Args&&... args) {
    out_.traces.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void sees(fmt::format_string<Args...> text, Args&&... args) {
    out_.decoder.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void doubt(fmt::format_string<Args...> text, Args&&... args) {
    out_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void where() {
    const Plan& p = out_.plan;
    if (known("TRCVICTLR") && p.levels) {
      traces("Exception levels: {}.", levels_text(p.levels->value, ", "));
    }
    if (known("TRCVIIECTLR")) {
      const auto list = [&](bool exclude) {
        std::string text;
        for (const PlanRange& range : p.ranges) {
          if (range.exclude != exclude) continue;
          text += (text.empty() ? "" : "; ") + match_text(range.match, true);
        }
        return text;
      };
      const std::string included = list(false);
      const std::string excluded = list(true);
      traces("Addresses: {}{}{}.", included.empty() ? "all" : included,
             excluded.empty() ? "" : ", but not " + excluded,
             all_comparators_ ? "" : ", as far as the comparator that addr_idx selects shows");
    }
    if (!p.points.empty()) {
      std::string starts;
      std::string stops;
      for (const PlanPoint& point : p.points) {
        std::string& list = point.stop ? stops : starts;
        list += (list.empty() ? "" : "; ") + match_text(point.match, false);
      }
      traces("Starts at: {}. Stops at: {}. Begins {}.", starts.empty() ? "nothing" : starts,
             stops.empty() ? "nothing" : stops,
             !p.begin_started         ? "as TRCVICTLR says"
             : p.begin_started->value ? "started"
                                      : "stopped");
    }
  }

  void when() {
    const Plan& p = out_.plan;
    if (!known("TRCVICTLR")) {
      traces("The filter is not known: the source has no TRCVICTLR.");
    } else if (p.strobe) {
      traces("Strobing: {} cycles of trace in every {} windows.", p.strobe->window,
             p.strobe->period);
    } else if (p.when && p.when->event.kind != EventKind::kAlways) {
      traces("Only while: {}.", event_text(p.when->event));
    }
    for (unsigned i = 0; i < p.events.size(); ++i) {
      const auto& event = p.events[i];
      if (!event || event->event.kind == EventKind::kNever) continue;
      traces("Event {} ({}): {}.", i,
             (p.events_in_trace >> i & 1) != 0 ? "in the trace" : "an output only",
             event_text(event->event));
    }
    if (known("TRCVICTLR") && p.trace_reset) traces("Resets are traced whatever the filter says.");
    if (known("TRCVICTLR") && p.trace_error) traces("System errors are traced in any case.");
    if (p.stall)
      traces("The core is stalled when the trace cannot keep up, level {}.", p.stall->value);
    if (p.no_overflow) traces("Overflows are prevented, at the cost of speed.");
  }

  void decoder() {
    const Plan& p = out_.plan;
    if (!known("TRCCONFIGR")) {
      doubt("TRCCONFIGR is not known: a decoder needs it.");
      return;
    }
    if (p.trace_context_id) {
      sees("Context IDs of {} bits (CONTEXTIDR_EL1).", caps_.ctxid_size * 8);
    }
    if (p.trace_vmid) {
      sees("VMIDs of {} bits{}.", caps_.vmid_size * 8,
           p.trace_vmid->value ? ", which are CONTEXTIDR_EL2" : "");
    }
    if (p.cycles) sees("Cycle counts, at least {} cycles apart.", p.cycles->value);
    if (p.timestamps) {
      if (p.timestamps->event.kind == EventKind::kNever) {
        sees("Timestamps, only where the trace synchronises.");
      } else {
        sees("Timestamps, also at: {}.", event_text(p.timestamps->event));
      }
    }
    if (p.return_stack) sees("No address for a return to its caller.");
    switch (p.broadcast) {
      case BroadcastKind::kEverywhere:
        sees("An address for every taken branch, even a direct one.");
        break;
      case BroadcastKind::kInside:
      case BroadcastKind::kOutside: {
        std::string list;
        for (const PlanRange& range : p.broadcast_ranges) {
          list += (list.empty() ? "" : "; ") + match_text(range.match, true);
        }
        sees("An address for every taken branch {} {}.",
             p.broadcast == BroadcastKind::kInside ? "inside" : "outside", list);
        break;
      }
      case BroadcastKind::kNone:
        break;
    }
    if (p.q_elements) sees("Q elements: some instructions are only counted, or left out entirely.");
    if (p.conditional) sees("Conditional instructions: only packets can be listed.");
    if (p.p0) sees("Loads or stores as P0 elements: only packets can be listed.");
    if (p.sync && known("TRCSYNCPR")) {
      if (p.sync->value == 0) {
        sees("No periodic synchronisation: the trace can only be decoded from its very start.");
      } else {
        sees("A synchronisation point every {} bytes.", 1U << p.sync->value);
      }
    }
    sees("waymark decode needs: {}", decoder_options(image_, id_));
  }

  // --- Doubtful settings. ---
  void problems_of_filter() {
    const Plan& p = out_.plan;
    if (known("TRCPRGCTLR") && (reg("TRCPRGCTLR") & 1) == 0) {
      doubt("The unit is not enabled (TRCPRGCTLR.EN is 0).");
    }
    if (!known("TRCVICTLR") || !p.levels || !p.when) return;
    const std::uint32_t view = reg("TRCVICTLR");
    if (p.levels->value == 0)
      doubt("No exception level is selected, so nothing is traced (TRCVICTLR).");
    if (const std::uint32_t secure = p.levels->value & 0xFU; secure != 0) {
      doubt(
          "Secure levels are traced ({}): writing reset does not change that. s_exlevel_vinst "
          "0x{:x} "
          "excludes them.",
          levels_text(secure, ", "), caps_.s_ex_level);
    }
    if (p.when->event.kind == EventKind::kNever) {
      doubt("The event of TRCVICTLR is never true, so nothing is traced: event_vinst 1 is always.");
    }
    const bool starts = std::ranges::any_of(p.points, [](const auto& at) { return !at.stop; }) ||
                        p.start_inputs.has_value();
    if ((view & kVictlrStarted) == 0 && !starts && known("TRCVISSCTLR")) {
      doubt(
          "The start/stop logic is stopped and no start address or input can start it, so nothing "
          "is traced: a mode write without bit 27 (0x8000000) does that.");
    }
    if ((view & kVictlrStarted) != 0 && starts) {
      doubt(
          "The start/stop logic begins started, so the trace does not wait for a start address: "
          "write mode without bit 27 (0x8000000) to begin stopped.");
    }
    const std::uint32_t ranges = reg("TRCVIIECTLR");
    for (unsigned pair = 0; pair < 8; ++pair) {
      const bool in = (ranges >> pair & 1) != 0;
      const bool out = (ranges >> (16 + pair) & 1) != 0;
      if (!in && !out) continue;
      if (pair >= caps_.nr_addr_cmp) {
        doubt("TRCVIIECTLR names pair {} of {} address comparator pairs.", pair, caps_.nr_addr_cmp);
        continue;
      }
      if (in && out) doubt("Pair {} is both included and excluded (TRCVIIECTLR).", pair);
      check_pair(pair);
    }
    const std::uint32_t points = reg("TRCVISSCTLR");
    for (unsigned i = caps_.nr_addr_cmp * 2; i < kAddressComparators; ++i) {
      if ((points >> i & 1) != 0 || (points >> (16 + i) & 1) != 0) {
        doubt("TRCVISSCTLR names address comparator {}, which the unit does not have.", i);
      }
    }
  }

  void check_pair(unsigned pair) {
    const unsigned even = pair * 2;
    if (!known(fmt::format("TRCACVR{}", even))) return;
    if (image_.value("TRCACVR", even) > image_.value("TRCACVR", even + 1)) {
      doubt("The range of pair {} ends before it begins, so it never matches.", pair);
    }
    if (image_.value("TRCACATR", even) != image_.value("TRCACATR", even + 1)) {
      doubt(
          "The halves of pair {} have different controls (TRCACATR{} and {}): levels and contexts "
          "must be set with addr_idx {} and again with {}.",
          pair, even, even + 1, even, even + 1);
    }
  }

  // An event byte that a register holds.
  void check_event(std::uint32_t byte, std::string_view what) {
    byte &= 0xFF;
    const bool pair = (byte & 0x80) != 0;
    const unsigned first = pair ? (byte & 0xF) * 2 : byte & 0x1F;
    if (pair && first == 0) {
      doubt("{} uses selector pair 0, which is reserved.", what);
      return;
    }
    for (unsigned number = first; number <= first + (pair ? 1U : 0U); ++number) {
      if (number < 2) continue;
      if (number >= caps_.nr_resource * 2) {
        doubt("{} uses selector {}, which the unit does not have.", what, number);
      } else if (known(fmt::format("TRCRSCTLR{}", number)) &&
                 (image_.value("TRCRSCTLR", number) & 0xFFFF) == 0) {
        doubt(
            "{} uses selector {}, which selects no resource: program it with res_idx and "
            "res_ctrl.",
            what, number);
      }
    }
  }

  void problems_of_events() {
    check_event(reg("TRCVICTLR"), "The trace filter (event_vinst)");
    const std::uint32_t config = reg("TRCCONFIGR");
    if (known("TRCTSCTLR")) {
      check_event(reg("TRCTSCTLR"), "The timestamp event (event_ts)");
      if (reg("TRCTSCTLR") != 0 && (config & kConfigTimestamps) == 0) {
        doubt("There is a timestamp event, but timestamps are off (mode bit 11).");
      }
    }
    for (unsigned i = 0; i <= caps_.nr_event; ++i) {
      check_event(reg("TRCEVENTCTL0R") >> (8 * i), fmt::format("Event {}", i));
    }
    for (unsigned i = 0; i < caps_.nr_cntr; ++i) {
      const auto control = static_cast<std::uint32_t>(image_.value("TRCCNTCTLR", i));
      check_event(control, fmt::format("Counter {}'s count event", i));
      check_event(control >> 8, fmt::format("Counter {}'s reload event", i));
      if (bit<17>(control) && i % 2 == 0) doubt("Counter {} cannot be chained.", i);
    }
    for (unsigned i = 0; i < caps_.nr_seq_ctrls; ++i) {
      const auto control = static_cast<std::uint32_t>(image_.value("TRCSEQEVR", i));
      check_event(control, fmt::format("Sequencer transition {} to {}", i, i + 1));
      check_event(control >> 8, fmt::format("Sequencer transition {} to {}", i + 1, i));
    }
    check_event(reg("TRCSEQRSTEVR"), "The sequencer's reset");
  }

  void problems_of_features() {
    const std::uint32_t config = reg("TRCCONFIGR");
    const auto lacks = [&](std::uint32_t bit, bool present, std::string_view what) {
      if ((config & bit) != 0 && !present) {
        doubt("TRCCONFIGR switches {} on, which the unit does not have.", what);
      }
    };
    lacks(kConfigBranchBroadcast, caps_.trcbb, "branch broadcast");
    lacks(kConfigCycles, caps_.trccci, "cycle counting");
    lacks(kConfigContextId, caps_.ctxid_size != 0, "context ID trace");
    lacks(kConfigVmid, caps_.vmid_size != 0, "VMID trace");
    lacks(kConfigTimestamps, caps_.ts_size != 0, "timestamps");
    lacks(kConfigReturnStack, caps_.retstack, "the return stack");
    lacks(kConfigQ, caps_.q_support != 0, "Q elements");
    lacks(kConfigConditional, caps_.trccond, "conditional trace");
    lacks(kConfigP0, caps_.instrp0, "P0 loads and stores");
    if ((config & kConfigVmidOption) != 0 && (config & kConfigVmid) == 0) {
      doubt("TRCCONFIGR.VMIDOPT is set without VMID, so it does nothing.");
    }
    if ((config & kConfigCycles) != 0 && known("TRCCCCTLR") && reg("TRCCCCTLR") < caps_.ccitmin) {
      doubt("The cycle threshold {} is below the unit's smallest, {}: write cyc_threshold.",
            reg("TRCCCCTLR"), caps_.ccitmin);
    }
    if ((reg("TRCBBCTLR") & 0x1FF) == kBroadcastInside) {
      doubt("Branch broadcast is inside ranges, but no range is selected (TRCBBCTLR).");
    }
    const std::uint32_t broadcast = reg("TRCBBCTLR") & 0xFF;
    if (broadcast >> caps_.nr_addr_cmp != 0) {
      doubt("TRCBBCTLR names a pair of address comparators that the unit does not have.");
    }
    const std::uint32_t period = reg("TRCSYNCPR") & 0x1F;
    if (period != 0 && (period < 8 || period > 20)) {
      doubt("The synchronisation period {} is reserved: 0, or 8 to 20 (TRCSYNCPR).", period);
    }
    if (known("TRCTRACEIDR") && unused_trace_id(reg("TRCTRACEIDR"))) {
      doubt(
          "The trace ID of TRCTRACEIDR is marked as not used: AUX_OUTPUT_HW_ID records of the perf "
          "data say which one was used.");
    } else if (known("TRCTRACEIDR")) {
      const std::uint32_t trace_id = reg("TRCTRACEIDR") & 0x7F;
      if (trace_id == 0 || trace_id >= 0x70) {
        doubt("Trace ID 0x{:02x} is reserved: frames cannot carry it.", trace_id);
      }
    }
    if ((reg("TRCSTALLCTLR") & (kStallInstructions | 0xF)) == kStallInstructions) {
      doubt("Stalling is on at level 0, the weakest; sysfs has no file for the level.");
    }
  }

  const RegisterImage& image_;
  const IdRegisters& id_;
  const Capabilities& caps_;
  bool all_comparators_;
  Explanation out_;
};

void section(std::string& text, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += fmt::format("{}\n", heading);
  for (const std::string& line : lines) text += fmt::format("  {}\n", line);
}

struct FieldRow {
  std::string_view stem;  ///< The register's name without a number.
  std::string_view field;
  unsigned high;
  unsigned low;
};

// etm4x-programming.md 9.
constexpr FieldRow kFields[] = {
    {"TRCPRGCTLR", "EN", 0, 0},
    {"TRCPROCSELR", "PROCSEL", 4, 0},
    {"TRCCONFIGR", "INSTP0", 2, 1},
    {"TRCCONFIGR", "BB", 3, 3},
    {"TRCCONFIGR", "CCI", 4, 4},
    {"TRCCONFIGR", "CID", 6, 6},
    {"TRCCONFIGR", "VMID", 7, 7},
    {"TRCCONFIGR", "COND", 10, 8},
    {"TRCCONFIGR", "TS", 11, 11},
    {"TRCCONFIGR", "RS", 12, 12},
    {"TRCCONFIGR", "QE", 14, 13},
    {"TRCCONFIGR", "VMIDOPT", 15, 15},
    {"TRCCONFIGR", "DA", 16, 16},
    {"TRCCONFIGR", "DV", 17, 17},
    {"TRCEVENTCTL0R", "EVENT0", 7, 0},
    {"TRCEVENTCTL0R", "EVENT1", 15, 8},
    {"TRCEVENTCTL0R", "EVENT2", 23, 16},
    {"TRCEVENTCTL0R", "EVENT3", 31, 24},
    {"TRCEVENTCTL1R", "INSTEN", 3, 0},
    {"TRCEVENTCTL1R", "ATB", 11, 11},
    {"TRCEVENTCTL1R", "LPOVERRIDE", 12, 12},
    {"TRCRSR", "TA", 12, 12},
    {"TRCSTALLCTLR", "LEVEL", 3, 0},
    {"TRCSTALLCTLR", "ISTALL", 8, 8},
    {"TRCSTALLCTLR", "INSTPRIORITY", 10, 10},
    {"TRCSTALLCTLR", "NOOVERFLOW", 13, 13},
    {"TRCTSCTLR", "EVENT", 7, 0},
    {"TRCSYNCPR", "PERIOD", 4, 0},
    {"TRCCCCTLR", "THRESHOLD", 11, 0},
    {"TRCBBCTLR", "RANGE", 7, 0},
    {"TRCBBCTLR", "MODE", 8, 8},
    {"TRCTRACEIDR", "TRACEID", 6, 0},
    {"TRCVICTLR", "EVENT", 7, 0},
    {"TRCVICTLR", "SSSTATUS", 9, 9},
    {"TRCVICTLR", "TRCRESET", 10, 10},
    {"TRCVICTLR", "TRCERR", 11, 11},
    {"TRCVICTLR", "EXLEVEL_S", 19, 16},
    {"TRCVICTLR", "EXLEVEL_NS", 22, 20},
    {"TRCVIIECTLR", "INCLUDE", 7, 0},
    {"TRCVIIECTLR", "EXCLUDE", 23, 16},
    {"TRCVISSCTLR", "START", 15, 0},
    {"TRCVISSCTLR", "STOP", 31, 16},
    {"TRCVIPCSSCTLR", "START", 7, 0},
    {"TRCVIPCSSCTLR", "STOP", 23, 16},
    {"TRCSEQEVR", "F", 7, 0},
    {"TRCSEQEVR", "B", 15, 8},
    {"TRCSEQRSTEVR", "RST", 7, 0},
    {"TRCSEQSTR", "STATE", 1, 0},
    {"TRCCNTRLDVR", "VALUE", 15, 0},
    {"TRCCNTVR", "VALUE", 15, 0},
    {"TRCCNTCTLR", "CNTEVENT", 7, 0},
    {"TRCCNTCTLR", "RLDEVENT", 15, 8},
    {"TRCCNTCTLR", "RLDSELF", 16, 16},
    {"TRCCNTCTLR", "CNTCHAIN", 17, 17},
    {"TRCRSCTLR", "SELECT", 15, 0},
    {"TRCRSCTLR", "GROUP", 19, 16},
    {"TRCRSCTLR", "INV", 20, 20},
    {"TRCRSCTLR", "PAIRINV", 21, 21},
    {"TRCSSCCR", "SAC", 15, 0},
    {"TRCSSCCR", "ARC", 23, 16},
    {"TRCSSCCR", "RST", 24, 24},
    {"TRCSSCSR", "INST", 0, 0},
    {"TRCSSCSR", "PC", 3, 3},
    {"TRCSSCSR", "STATUS", 31, 31},
    {"TRCSSPCICR", "PC", 7, 0},
    {"TRCACATR", "TYPE", 1, 0},
    {"TRCACATR", "CONTEXTTYPE", 3, 2},
    {"TRCACATR", "CONTEXT", 6, 4},
    {"TRCACATR", "EXLEVEL_S", 11, 8},
    {"TRCACATR", "EXLEVEL_NS", 14, 12},
    {"TRCPDCR", "PU", 3, 3},
};

// The name without its number, for registers of which there are several.
std::string_view stem_of(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return name.substr(0, end + 1);
}

}  // namespace

Explanation explain(const RegisterImage& image, const IdRegisters& id, const Capabilities& caps,
                    bool all_comparators) {
  return Explainer(image, id, caps, all_comparators).run();
}

std::string decoder_options(const RegisterImage& image, const IdRegisters& id) {
  const bool ete = (id.devarch >> 12 & 0xF) == 5;
  std::string text = fmt::format("--protocol {}", ete ? "ete" : "etmv4");
  const auto option = [&text](std::string_view name, std::uint64_t value) {
    text += fmt::format(" --reg {}=0x{:X}", name, value);
  };
  option("TRCCONFIGR", image.value("TRCCONFIGR"));
  if (const auto trace_id = image.find("TRCTRACEIDR"); trace_id && !unused_trace_id(*trace_id)) {
    option("TRCTRACEIDR", *trace_id);
  }
  for (const unsigned i : {0U, 1U, 2U}) option(fmt::format("TRCIDR{}", i), id.idr[i]);
  if (ete) option("TRCDEVARCH", id.devarch);
  return text;
}

std::string explanation_text(const Explanation& explanation) {
  std::string text;
  section(text, "The unit traces", explanation.traces);
  section(text, "A decoder sees", explanation.decoder);
  section(text, "What looks wrong", explanation.problems);
  if (explanation.problems.empty()) text += "Nothing looks wrong.\n";
  return text;
}

std::string register_fields_text(const RegisterImage& image) {
  std::string text;
  for (const RegisterValue& value : image.values()) {
    text += fmt::format("{:<14} {}", value.name, register_text(value));
    for (const FieldRow& row : kFields) {
      if (row.stem != value.name && row.stem != stem_of(value.name)) continue;
      const std::uint64_t field = value.value >> row.low & low_mask(row.high - row.low + 1);
      if (field != 0) text += fmt::format("  {}=0x{:x}", row.field, field);
    }
    text += '\n';
  }
  return text;
}

}  // namespace waymark::etm4x
