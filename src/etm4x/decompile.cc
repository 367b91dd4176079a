// Decompiles registers into a plan; the terms are those of compile.cc.
#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/bits.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

constexpr std::uint32_t kRead = 1;  // A line number, which marks the fields of a plan as given.

class Reader {
 public:
  Reader(const RegisterImage& image, const Capabilities& caps) : image_(image), caps_(caps) {}

  Plan run() {
    features();
    filter();
    events();
    counters();
    sequencer();
    shots();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool known(std::string_view name) const { return image_.find(name).has_value(); }
  [[nodiscard]] std::uint32_t reg(std::string_view name) const {
    return static_cast<std::uint32_t>(image_.value(name));
  }
  [[nodiscard]] std::uint32_t reg(std::string_view stem, unsigned number) const {
    return static_cast<std::uint32_t>(image_.value(stem, number));
  }

  static void flag(Setting<bool>& setting, bool on) {
    if (on) setting = {true, kRead};
  }

  void features() {
    const std::uint32_t config = reg("TRCCONFIGR");
    flag(plan_.trace_context_id, (config & kConfigContextId) != 0);
    if ((config & kConfigVmid) != 0) {
      plan_.trace_vmid = {(config & kConfigVmidOption) != 0, kRead};
    }
    if ((config & kConfigCycles) != 0) plan_.cycles = {reg("TRCCCCTLR") & 0xFFF, kRead};
    if ((config & kConfigTimestamps) != 0) {
      plan_.timestamps = PlanEvent{event(reg("TRCTSCTLR") & 0xFF), kRead};
    }
    flag(plan_.return_stack, (config & kConfigReturnStack) != 0);
    if (const auto q = bits<14, 13>(config); q != 0) {
      plan_.q_elements = {static_cast<std::uint8_t>(q), kRead};
    }
    if (const auto cond = bits<10, 8>(config); cond != 0) {
      plan_.conditional = {static_cast<std::uint8_t>(cond), kRead};
    }
    if (const auto p0 = bits<2, 1>(config); p0 != 0) {
      plan_.p0 = {static_cast<std::uint8_t>(p0), kRead};
    }
    if ((config & kConfigBranchBroadcast) != 0) broadcast();

    const std::uint32_t stall = reg("TRCSTALLCTLR");
    if ((stall & kStallInstructions) != 0) {
      plan_.stall = {static_cast<std::uint8_t>(stall & 0xF), kRead};
    }
    flag(plan_.stall_priority, (stall & kStallPriority) != 0);
    flag(plan_.no_overflow, (stall & kStallNoOverflow) != 0);
    const std::uint32_t control = reg("TRCEVENTCTL1R");
    flag(plan_.atb_trigger, (control & kEventAtbTrigger) != 0);
    flag(plan_.low_power_override, (control & kEventLowPower) != 0);
    if (!caps_.syncpr && known("TRCSYNCPR")) {
      plan_.sync = {static_cast<std::uint8_t>(reg("TRCSYNCPR") & 0x1F), kRead};
    }
    // A unit of one PE has no TRCPROCSELR.
    if (known("TRCPROCSELR") || caps_.nr_pe == 0) plan_.pe = {reg("TRCPROCSELR"), kRead};
  }

  void broadcast() {
    const std::uint32_t control = reg("TRCBBCTLR");
    const bool inside = (control & kBroadcastInside) != 0;
    plan_.broadcast_line = kRead;
    plan_.broadcast = inside                  ? BroadcastKind::kInside
                      : (control & 0xFF) != 0 ? BroadcastKind::kOutside
                                              : BroadcastKind::kEverywhere;
    for (unsigned pair = 0; pair < 8; ++pair) {
      if ((control >> pair & 1) != 0) {
        plan_.broadcast_ranges.push_back({match(pair * 2, true), false, kRead});
      }
    }
  }

  [[nodiscard]] std::optional<ContextMatch> context(std::string_view values, std::string_view masks,
                                                    unsigned slot) const {
    const std::uint32_t mask = reg(masks, slot / 4) >> (slot % 4 * 8) & 0xFF;
    std::uint64_t value = image_.value(values, slot);
    for (unsigned byte = 0; byte < 8; ++byte) {
      if ((mask >> byte & 1) != 0) value &= ~(std::uint64_t{0xFF} << (8 * byte));
    }
    return ContextMatch{value, static_cast<std::uint8_t>(mask)};
  }

  [[nodiscard]] Match match(unsigned index, bool range) const {
    Match found;
    found.first = image_.value("TRCACVR", index);
    found.last = range ? image_.value("TRCACVR", index + 1) : found.first;
    const auto control = static_cast<std::uint32_t>(image_.value("TRCACATR", index));
    const std::uint32_t type = bits<3, 2>(control);
    const std::uint32_t slot = bits<6, 4>(control);
    if ((type & 1) != 0) found.context_id = context("TRCCIDCVR", "TRCCIDCCTLR", slot);
    if ((type & 2) != 0) found.vmid = context("TRCVMIDCVR", "TRCVMIDCCTLR", slot);
    found.no_levels = static_cast<std::uint8_t>(bits<14, 8>(control));
    return found;
  }

  void filter() {
    const std::uint32_t ranges = reg("TRCVIIECTLR");
    for (unsigned pair = 0; pair < 8; ++pair) {
      if ((ranges >> pair & 1) != 0) {
        plan_.ranges.push_back({match(pair * 2, true), false, kRead});
      }
      if ((ranges >> (16 + pair) & 1) != 0) {
        plan_.ranges.push_back({match(pair * 2, true), true, kRead});
      }
    }
    const std::uint32_t points = reg("TRCVISSCTLR");
    // From the top, in the order in which compile_plan() allocates them.
    for (unsigned i = kAddressComparators; i-- > 0;) {
      if ((points >> i & 1) != 0) plan_.points.push_back({match(i, false), false, kRead});
      if ((points >> (16 + i) & 1) != 0) plan_.points.push_back({match(i, false), true, kRead});
    }
    const std::uint32_t inputs = reg("TRCVIPCSSCTLR");
    if (const auto start = bits<7, 0>(inputs); start != 0) plan_.start_inputs = {start, kRead};
    if (const auto stop = bits<23, 16>(inputs); stop != 0) plan_.stop_inputs = {stop, kRead};

    if (!known("TRCVICTLR")) return;
    const std::uint32_t view = reg("TRCVICTLR");
    plan_.begin_started = {(view & kVictlrStarted) != 0, kRead};
    const std::uint32_t existing = (caps_.s_ex_level & 0xF) | (caps_.ns_ex_level & 7) << 4;
    plan_.levels = {static_cast<std::uint8_t>(~bits<22, 16>(view) & existing), kRead};
    flag(plan_.trace_reset, (view & kVictlrTraceReset) != 0);
    flag(plan_.trace_error, (view & kVictlrTraceError) != 0);
    plan_.when = PlanEvent{event(view & kVictlrEvent), kRead};
  }

  // --- Events. ---
  [[nodiscard]] Resource resource(unsigned group, unsigned bit) const {
    switch (group) {
      case 0:
        return {ResourceKind::kExternal, reg("TRCEXTINSELR") >> (bit % 4 * 8) & 0xFF, {}};
      case 1:
        return {ResourceKind::kPeInput, bit, {}};
      case 2:
        if (bit >= 4) return {ResourceKind::kSequencer, bit - 4, {}};
        return {ResourceKind::kCounter, bit, {}};
      case 3:
        return {ResourceKind::kSingleShot, bit, {}};
      case 4:
        return {ResourceKind::kAddress, 0, match(bit, false)};
      case 5:
        return {ResourceKind::kRange, 0, match(bit * 2, true)};
      case 6: {
        Resource found{ResourceKind::kContextId, 0, {}};
        found.match.context_id = context("TRCCIDCVR", "TRCCIDCCTLR", bit);
        return found;
      }
      default: {
        Resource found{ResourceKind::kVmid, 0, {}};
        found.match.vmid = context("TRCVMIDCVR", "TRCVMIDCCTLR", bit);
        return found;
      }
    }
  }

  // Nothing: the selector is never true, or always.
  [[nodiscard]] std::optional<Term> term(std::uint32_t selector, bool invert,
                                         bool& constant) const {
    Term found;
    found.inverted = ((selector & kSelectorInverted) != 0) != invert;
    const std::uint32_t group = bits<19, 16>(selector);
    const unsigned width = group == 4 ? 16 : group == 0 ? 4 : 8;
    for (unsigned bit = 0; bit < width && group < 8; ++bit) {
      if ((selector >> bit & 1) != 0) found.any.push_back(resource(group, bit));
    }
    if (!found.any.empty()) return found;
    constant = found.inverted;
    return std::nullopt;
  }

  static Event constant_event(bool value) {
    Event found;
    found.kind = value ? EventKind::kAlways : EventKind::kNever;
    return found;
  }
  static Event single(Term term) {
    Event found;
    found.kind = EventKind::kTerm;
    found.a = std::move(term);
    return found;
  }

  // The meaning of a fixed or programmed selector.
  [[nodiscard]] std::optional<Term> selected(unsigned number, bool invert, bool& constant) const {
    if (number >= 2) return term(reg("TRCRSCTLR", number), invert, constant);
    constant = (number == 1) != invert;
    return std::nullopt;
  }

  [[nodiscard]] Event event(std::uint32_t byte) const {
    bool constant_a = false;
    if ((byte & 0x80) == 0) {
      auto found = selected(byte & 0x1F, false, constant_a);
      return found ? single(std::move(*found)) : constant_event(constant_a);
    }
    const unsigned even = (byte & 0xF) * 2;
    const bool either = even >= 2 && (reg("TRCRSCTLR", even) & kPairInverted) != 0;
    bool constant_b = false;
    auto a = selected(even, either, constant_a);
    auto b = selected(even + 1, either, constant_b);
    if (a && b) {
      Event found = single(std::move(*a));
      found.kind = either ? EventKind::kOr : EventKind::kAnd;
      found.b = std::move(*b);
      return found;
    }
    // One side is constant: it either decides, or leaves the result to the other.
    const bool constant = a ? constant_b : constant_a;
    auto& other = a ? a : b;
    if (!other) return constant_event(either ? constant_a || constant_b : constant_a && constant_b);
    return constant == either ? constant_event(constant) : single(std::move(*other));
  }

  void events() {
    const std::uint32_t selectors = reg("TRCEVENTCTL0R");
    plan_.events_in_trace = reg("TRCEVENTCTL1R") & 0xF;
    for (unsigned i = 0; i < plan_.events.size(); ++i) {
      const std::uint32_t byte = selectors >> (8 * i) & 0xFF;
      if (byte != 0 || (plan_.events_in_trace >> i & 1) != 0) {
        plan_.events[i] = PlanEvent{event(byte), kRead};
      }
    }
  }

  void counters() {
    for (unsigned i = 0; i < caps_.nr_cntr; ++i) {
      const std::uint32_t control = reg("TRCCNTCTLR", i);
      PlanCounter found;
      found.value = reg("TRCCNTVR", i);
      found.reload = reg("TRCCNTRLDVR", i);
      found.count = event(control & 0xFF);
      found.reload_on = event(control >> 8 & 0xFF);
      found.self_reload = bit<16>(control);
      found.chain = bit<17>(control);
      found.line = kRead;
      if (control != 0 || found.value != 0 || found.reload != 0) plan_.counters[i] = found;
    }
    // In the way in which the driver's feature programs it.
    const bool strobes = reg("TRCRSCTLR", 2) == 0x20001 && reg("TRCRSCTLR", 3) == 0x20002 &&
                         reg("TRCCNTCTLR", 0) == 0x10001 && reg("TRCCNTCTLR", 1) == 0x8102 &&
                         (reg("TRCVICTLR") & kVictlrEvent) == 3 &&
                         (reg("TRCSEQEVR", 0) == 0x81 || caps_.nrseqstate == 0);
    if (strobes && reg("TRCCNTRLDVR", 0) != 0 && reg("TRCCNTRLDVR", 1) != 0) {
      // A single line of a plan says all of this.
      plan_.counters[0] = {};
      plan_.counters[1] = {};
      plan_.when.reset();
      plan_.strobe = PlanStrobe{reg("TRCCNTRLDVR", 0), reg("TRCCNTRLDVR", 1), kRead};
    }
  }

  void sequencer() {
    if (caps_.nrseqstate == 0 || !known("TRCSEQSTR")) return;
    for (unsigned i = plan_.strobe ? 1 : 0; i < kSequencerEvents; ++i) {
      const std::uint32_t control = reg("TRCSEQEVR", i);
      plan_.forward[i] = {event(control & 0xFF), kRead};
      plan_.back[i] = {event(control >> 8 & 0xFF), kRead};
    }
    plan_.sequencer_reset = {event(reg("TRCSEQRSTEVR") & 0xFF), kRead};
    plan_.sequencer_state = {static_cast<std::uint8_t>(reg("TRCSEQSTR") & 3), kRead};
  }

  // Several comparators can make the same comparison.
  static void add(std::vector<Match>& matches, Match match) {
    if (std::ranges::find(matches, match) == matches.end()) matches.push_back(match);
  }

  void shots() {
    for (unsigned i = 0; i < caps_.nr_ss_cmp; ++i) {
      const std::uint32_t control = reg("TRCSSCCR", i);
      PlanShot& shot = plan_.shots[i];
      shot.pe_inputs = reg("TRCSSPCICR", i) & 0xFF;
      if (control == 0 && shot.pe_inputs == 0) continue;
      shot.line = kRead;
      shot.repeat = bit<24>(control);
      for (unsigned n = kAddressComparators; n-- > 0;) {
        if ((control >> n & 1) != 0) add(shot.addresses, match(n, false));
      }
      for (unsigned pair = 0; pair < 8; ++pair) {
        if ((control >> (16 + pair) & 1) != 0) add(shot.ranges, match(pair * 2, true));
      }
    }
  }

  const RegisterImage& image_;
  const Capabilities& caps_;
  Plan plan_;
};

}  // namespace

Plan plan_of(const RegisterImage& image, const Capabilities& caps) {
  return Reader(image, caps).run();
}

}  // namespace waymark::etm4x
