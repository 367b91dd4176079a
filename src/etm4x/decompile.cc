// Decompiles registers into a plan; the terms are those of compile.cc.
#include <fmt/format.h>

#include <algorithm>

#include "plan_grammar.h"
#include "waymark/base/bits.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

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

  void features() {
    const PlanRegisters registers{
        image_, caps_, [this](std::uint32_t byte) { return event(byte); },
        [this](unsigned index, bool range) { return match(index, range); }};
    for (const Statement& statement : plan_statements()) {
      if (statement.read != nullptr) statement.read(statement, registers, plan_);
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
        plan_.ranges.push_back({match(pair * 2, true), false, kReadLine});
      }
      if ((ranges >> (16 + pair) & 1) != 0) {
        plan_.ranges.push_back({match(pair * 2, true), true, kReadLine});
      }
    }
    const std::uint32_t points = reg("TRCVISSCTLR");
    // From the top, in the order in which compile_plan() allocates them.
    for (unsigned i = kAddressComparators; i-- > 0;) {
      if ((points >> i & 1) != 0) plan_.points.push_back({match(i, false), false, kReadLine});
      if ((points >> (16 + i) & 1) != 0) plan_.points.push_back({match(i, false), true, kReadLine});
    }
    const std::uint32_t inputs = reg("TRCVIPCSSCTLR");
    if (const auto start = bits<7, 0>(inputs); start != 0) plan_.start_inputs = {start, kReadLine};
    if (const auto stop = bits<23, 16>(inputs); stop != 0) plan_.stop_inputs = {stop, kReadLine};

    if (!known("TRCVICTLR")) return;
    const std::uint32_t view = reg("TRCVICTLR");
    plan_.begin_started = {(view & kVictlrStarted) != 0, kReadLine};
    const std::uint32_t existing = (caps_.s_ex_level & 0xF) | (caps_.ns_ex_level & 7) << 4;
    plan_.levels = {static_cast<std::uint8_t>(~bits<22, 16>(view) & existing), kReadLine};
    plan_.when = PlanEvent{event(view & kVictlrEvent), kReadLine};
  }

  // --- Events. ---
  [[nodiscard]] Resource resource(const ResourceRow& row, unsigned bit) const {
    Resource found{row.kind, 0, {}};
    switch (row.argument) {
      case ResourceArgument::kNumber:
        found.number =
            row.kind == ResourceKind::kExternal ? reg("TRCEXTINSELR") >> (bit % 4 * 8) & 0xFF : bit;
        break;
      case ResourceArgument::kAddress:
        found.match = match(bit, false);
        break;
      case ResourceArgument::kRange:
        found.match = match(bit * 2, true);
        break;
      case ResourceArgument::kContextId:
        found.match.context_id = context("TRCCIDCVR", "TRCCIDCCTLR", bit);
        break;
      case ResourceArgument::kVmid:
        found.match.vmid = context("TRCVMIDCVR", "TRCVMIDCCTLR", bit);
        break;
    }
    return found;
  }

  // Nothing: the selector is never true, or always.
  [[nodiscard]] std::optional<Term> term(std::uint32_t selector, bool invert,
                                         bool& constant) const {
    Term found;
    found.inverted = ((selector & kSelectorInverted) != 0) != invert;
    const std::uint32_t group = bits<19, 16>(selector);
    for (const ResourceRow& row : kResources) {
      if (row.group != group) continue;
      for (unsigned bit = 0; bit < row.bits; ++bit) {
        if ((selector >> (row.first + bit) & 1) != 0) found.any.push_back(resource(row, bit));
      }
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
        plan_.events[i] = PlanEvent{event(byte), kReadLine};
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
      found.line = kReadLine;
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
      plan_.strobe = PlanStrobe{reg("TRCCNTRLDVR", 0), reg("TRCCNTRLDVR", 1), kReadLine};
    }
  }

  void sequencer() {
    if (caps_.nrseqstate == 0 || !known("TRCSEQSTR")) return;
    for (unsigned i = plan_.strobe ? 1 : 0; i < kSequencerEvents; ++i) {
      const std::uint32_t control = reg("TRCSEQEVR", i);
      plan_.forward[i] = {event(control & 0xFF), kReadLine};
      plan_.back[i] = {event(control >> 8 & 0xFF), kReadLine};
    }
    plan_.sequencer_reset = {event(reg("TRCSEQRSTEVR") & 0xFF), kReadLine};
    plan_.sequencer_state = {static_cast<std::uint8_t>(reg("TRCSEQSTR") & 3), kReadLine};
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
      shot.line = kReadLine;
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
