// Compiles a plan into a program.  The writes run on the model, and the image is what the model
// then holds, so that script and image agree.  Settings for which sysfs has no file are added to
// the image and reported.
#include "waymark/etm4x/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan_grammar.h"
#include "waymark/base/bits.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

constexpr std::uint32_t kEventPair = 0x80;

struct Comparator {
  Match match;
  Tag tag = Tag::kNone;
  bool exclude = false;
  std::uint32_t line = 0;
};

struct ContextSlot {
  std::optional<ContextMatch> context_id;
  std::optional<ContextMatch> vmid;
  std::uint32_t line = 0;
};

// Controls whose TRCSSCSRn was not read are assumed to have PE inputs, if the plan wants some.
Environment assumed(const Plan& plan, Environment environment) {
  for (unsigned i = 0; i < kSingleShots; ++i) {
    const bool unknown = (environment.unknown_sscsr >> i & 1) != 0;
    if (unknown && plan.shots[i].pe_inputs != 0) environment.sscsr[i] |= kShotHasPeInputs;
  }
  return environment;
}

class Compiler {
 public:
  Compiler(const Plan& plan, const IdRegisters& id, const Environment& environment,
           std::vector<PlanProblem>& problems)
      : plan_(plan),
        unit_(id, assumed(plan, environment)),
        caps_(unit_.caps),
        external_inputs_(std::min(read_capabilities(id, environment, kNoQuirks).nr_ext_inp, 256U)),
        problems_(problems) {}

  std::optional<CompiledPlan> run() {
    const std::size_t before = problems_.size();
    check_features();
    allocate();
    if (problems_.size() != before) return std::nullopt;
    write_all();
    if (problems_.size() != before) return std::nullopt;
    out_.image = unit_.image();
    overlay();
    add_notes();
    return std::move(out_);
  }

 private:
  void problem(std::uint32_t line, std::string rule, std::string remedy) {
    problems_.push_back({line, std::move(rule), std::move(remedy)});
  }
  void need(bool present, std::uint32_t line, std::string_view what, std::string_view reg,
            std::string_view remedy) {
    if (!present) problem(line, lacks(what, reg), std::string(remedy));
  }

  void check_features() {
    for (const Statement& statement : plan_statements()) {
      if (statement.line == nullptr) continue;
      const auto line = statement.line(plan_);
      if (!line) continue;
      const Need& wanted = statement.need;
      if (wanted.met != nullptr && !wanted.met(caps_)) {
        need(false, *line, wanted.what, wanted.reg,
             wanted.remedy_for != nullptr ? wanted.remedy_for(caps_) : wanted.remedy);
      } else if (statement.check != nullptr) {
        if (auto found = statement.check(plan_, caps_)) problems_.push_back(std::move(*found));
      }
    }
    for (const auto* inputs : {&plan_.start_inputs, &plan_.stop_inputs}) {
      if (*inputs && (*inputs)->value >> caps_.nr_pe_cmp != 0) {
        problem((*inputs)->line, "the unit has no such PE comparator input", pe_inputs_remedy());
      }
    }
    for (unsigned i = 0; i < plan_.events.size(); ++i) {
      if (plan_.events[i] && i > caps_.nr_event) {
        problem(plan_.events[i]->line, fmt::format("the unit has no event {}", i),
                fmt::format("Events 0 to {} are accepted", caps_.nr_event));
      }
    }
    check_levels();
  }

  [[nodiscard]] std::string pe_inputs_remedy() const {
    return caps_.nr_pe_cmp == 0
               ? "The unit has none (TRCIDR4.NUMPC is 0); start and stop addresses are accepted"
               : fmt::format("0 to {} is accepted", caps_.nr_pe_cmp - 1);
  }

  [[nodiscard]] std::uint32_t existing_levels() const {
    return (caps_.s_ex_level & 0xF) | (caps_.ns_ex_level & 7) << 4;
  }

  void check_levels() {
    if (!plan_.levels) return;
    const std::uint32_t missing = plan_.levels->value & ~existing_levels();
    if (missing == 0) return;
    problem(plan_.levels->line, fmt::format("the unit cannot trace {}", levels_text(missing, ", ")),
            fmt::format("Accepted: {}", levels_text(existing_levels(), ", ")));
  }

  [[nodiscard]] std::uint32_t traced_levels() const {
    // The default is the levels that are not secure.
    return plan_.levels ? plan_.levels->value : existing_levels() & 0x70;
  }

  // --- Comparators, contexts, selectors. ---
  void allocate() {
    if (plan_.strobe) reserve_strobe();
    collect_ranges();
    collect_points();
    collect_controls();
  }

  void reserve_strobe() {
    const std::uint32_t line = plan_.strobe->line;
    need(caps_.nr_cntr >= 2, line, "second counter, which strobing needs",
         fmt::format("TRCIDR5.NUMCNTR is {}", caps_.nr_cntr), "Leave the line out");
    need(caps_.nr_resource >= 2, line, "free pair of selectors, which strobing needs",
         "TRCIDR4.NUMRSPAIR", "Leave the line out");
    for (unsigned i = 0; i < 2; ++i) {
      if (plan_.counters[i].line != 0) {
        problem(plan_.counters[i].line, fmt::format("strobing takes counter {}", i),
                "Use counter 2 or 3, or leave strobe out");
      }
    }
    if (plan_.when) {
      problem(plan_.when->line, "strobing decides when to trace",
              "Leave out either when or strobe");
    }
    used_.selectors.emplace_back(0x20001U);
    used_.selectors.emplace_back(0x20002U);
  }

  [[nodiscard]] unsigned selector_end() const { return caps_.nr_resource * 2; }

  // Ranges of the filter first, as all others depend on them.
  void collect_ranges() {
    for (const PlanRange& range : plan_.ranges) {
      add_range(range.match, range.exclude, range.line);
    }
  }

  void collect_points() {
    for (const PlanPoint& point : plan_.points) {
      add_single(point.match, point.stop ? Tag::kStop : Tag::kStart, point.line);
    }
  }

  // Returns the first comparator of the pair.
  std::optional<unsigned> add_range(const Match& match, bool exclude, std::uint32_t line) {
    for (unsigned i = 0; i < used_.comparators.size(); i += 2) {
      const Comparator& at = used_.comparators[i];
      if (at.tag == Tag::kRange && at.match == match && at.exclude == exclude) return i;
    }
    unsigned pair = 0;
    while (pair < used_.comparators.size() && (used_.comparators[pair].tag != Tag::kNone ||
                                               used_.comparators[pair + 1].tag != Tag::kNone)) {
      pair += 2;
    }
    if (pair >= caps_.nr_addr_cmp * 2) {
      if (std::exchange(used_.reported_comparators, true)) return std::nullopt;
      problem(line,
              fmt::format("the plan needs more ranges than the unit has free pairs of address "
                          "comparators ({} in all)",
                          caps_.nr_addr_cmp),
              "Join neighbouring ranges, or leave one out");
      return std::nullopt;
    }
    if (!context_for(match, line)) return std::nullopt;
    grow(pair + 2);
    used_.comparators[pair] = used_.comparators[pair + 1] = {match, Tag::kRange, exclude, line};
    return pair;
  }

  std::optional<unsigned> add_single(const Match& match, Tag tag, std::uint32_t line) {
    for (unsigned i = 0; i < used_.comparators.size(); ++i) {
      if (used_.comparators[i].tag == tag && used_.comparators[i].match == match) return i;
    }
    // From the top, so that the pairs at the bottom remain complete.
    unsigned index = caps_.nr_addr_cmp * 2;
    grow(index);
    while (index > 0 && used_.comparators[index - 1].tag != Tag::kNone) --index;
    if (index == 0) {
      if (std::exchange(used_.reported_comparators, true)) return std::nullopt;
      problem(line,
              fmt::format("the plan needs more than the {} address comparators of the unit",
                          caps_.nr_addr_cmp * 2),
              "Leave an address out, or merge two of them into one range");
      return std::nullopt;
    }
    if (!context_for(match, line)) return std::nullopt;
    used_.comparators[index - 1] = {match, tag, false, line};
    return index - 1;
  }

  void grow(unsigned size) {
    if (used_.comparators.size() < size) used_.comparators.resize(size);
  }

  // The slot whose comparators hold the contexts of the match; 0 if it has none.
  std::optional<unsigned> context_for(const Match& match, std::uint32_t line) {
    if (!match.context_id && !match.vmid) return 0;
    const auto fits = [](const auto& held, const auto& wanted) {
      return !wanted || !held || *held == *wanted;
    };
    const auto differs = [](const auto& held, const auto& wanted) {
      return wanted && held != wanted;
    };
    if (match.context_id && caps_.numcidc == 0) {
      problem(line, "the unit has no context ID comparators (TRCIDR4.NUMCIDC is 0)",
              "Leave context-id out here; trace-context-id lets the decoder filter");
      return std::nullopt;
    }
    if (match.vmid && caps_.numvmidc == 0) {
      problem(line, "the unit has no VMID comparators (TRCIDR4.NUMVMIDC is 0)",
              "Leave vmid out here; trace-vmid lets the decoder filter");
      return std::nullopt;
    }
    if ((match.context_id && caps_.ctxid_size == 0) || (match.vmid && caps_.vmid_size == 0)) {
      problem(line, "the unit has no such contexts (TRCIDR2)", "Leave the qualifier out");
      return std::nullopt;
    }
    const unsigned ids = match.context_id ? caps_.numcidc : kContextComparators;
    const unsigned vmids = match.vmid ? caps_.numvmidc : kContextComparators;
    for (unsigned i = 0; i < std::min(ids, vmids); ++i) {
      ContextSlot& slot = used_.contexts[i];
      if (!fits(slot.context_id, match.context_id) || !fits(slot.vmid, match.vmid)) continue;
      if (differs(slot.context_id, match.context_id)) slot.context_id = match.context_id;
      if (differs(slot.vmid, match.vmid)) slot.vmid = match.vmid;
      if (slot.line == 0) slot.line = line;
      return i;
    }
    problem(line,
            fmt::format("the plan compares with more contexts than the unit can ({} context IDs, "
                        "{} VMIDs)",
                        caps_.numcidc, caps_.numvmidc),
            "Use fewer values, or one with ignored bytes");
    return std::nullopt;
  }

  // A range that does not filter.  addr_range always adds its range to the filter, so the range
  // must either be in the plan's filter or change nothing there.
  std::optional<unsigned> resource_range(const Match& match, std::uint32_t line) {
    for (unsigned i = 0; i + 1 < used_.comparators.size(); i += 2) {
      if (used_.comparators[i].tag == Tag::kRange && used_.comparators[i].match == match) return i;
    }
    bool includes = false;
    bool covered = false;
    for (unsigned i = 0; i + 1 < used_.comparators.size(); i += 2) {
      const Comparator& at = used_.comparators[i];
      if (at.tag != Tag::kRange || at.exclude) continue;
      if ((values_.unfiltered_pairs >> (i / 2) & 1) != 0) continue;
      includes = true;
      Match wide = at.match;
      wide.first = match.first;
      wide.last = match.last;
      const bool alike =
          wide == match || (!at.match.context_id && !at.match.vmid && at.match.no_levels == 0);
      covered = covered || (alike && at.match.first <= match.first && at.match.last >= match.last);
    }
    if (!includes) {
      Match everything;
      everything.last = ~std::uint64_t{0};
      if (!add_range(everything, false, line)) return std::nullopt;
      note(line,
           "sysfs makes every range part of the filter, so a second one includes all addresses",
           "Nothing to do");
    } else if (!covered) {
      beyond(line, "sysfs makes every range part of the filter: this one would be included",
             "Include the range too, or place it inside an included one");
      const auto pair = add_range(match, false, line);
      if (pair) values_.unfiltered_pairs |= 1U << (*pair / 2);
      return pair;
    }
    return add_range(match, false, line);
  }

  // --- Events. ---
  std::optional<std::uint32_t> selector_value(const Term& term, std::uint32_t line) {
    std::uint32_t group = 0;
    std::uint32_t select = 0;
    // In the order of the text, so that a plan made from registers selects the same ones again.
    std::vector<const Resource*> resources;
    resources.reserve(term.any.size());
    for (const Resource& resource : term.any) resources.push_back(&resource);
    if (resources.size() > 1) {
      std::ranges::sort(resources, {}, [](const Resource* held) { return resource_text(*held); });
    }
    for (const Resource* resource : resources) {
      const auto bit = resource_bit(*resource, line);
      if (!bit) return std::nullopt;
      group = resource_row(resource->kind).group;
      select |= 1U << *bit;
    }
    return group << 16 | select | (term.inverted ? kSelectorInverted : 0);
  }

  /// How many of a numbered kind the unit has.
  [[nodiscard]] unsigned available(ResourceKind kind) const {
    switch (kind) {
      case ResourceKind::kExternal:
        return external_inputs_;
      case ResourceKind::kPeInput:
        return std::min(caps_.nr_pe_cmp, 8U);
      case ResourceKind::kCounter:
        return caps_.nr_cntr;
      case ResourceKind::kSequencer:
        return std::min(caps_.nrseqstate, 4U);
      case ResourceKind::kSingleShot:
        return caps_.nr_ss_cmp;
      default:
        return 0;
    }
  }

  bool numbered(const Resource& resource, std::uint32_t line) {
    const unsigned count = available(resource.kind);
    if (resource.number < count) return true;
    problem(line,
            fmt::format("the unit has no {} {}", resource_row(resource.kind).what, resource.number),
            count == 0 ? std::string("It has none of this kind")
                       : fmt::format("0 to {} is accepted", count - 1));
    return false;
  }

  /// The resource's bit in TRCRSCTLRn.SELECT.
  std::optional<unsigned> resource_bit(const Resource& resource, std::uint32_t line) {
    const ResourceRow& row = resource_row(resource.kind);
    switch (row.argument) {
      case ResourceArgument::kNumber:
        if (!numbered(resource, line)) return std::nullopt;
        if (resource.kind == ResourceKind::kExternal) return external_selector(resource, line);
        return row.first + resource.number;
      case ResourceArgument::kAddress:
        return add_single(resource.match, Tag::kSingle, line);
      case ResourceArgument::kRange: {
        const auto pair = resource_range(resource.match, line);
        if (!pair) return std::nullopt;
        return *pair / 2;
      }
      case ResourceArgument::kContextId:
      case ResourceArgument::kVmid:
        return context_for(resource.match, line);
    }
    return std::nullopt;
  }

  std::optional<unsigned> external_selector(const Resource& resource, std::uint32_t line) {
    const unsigned count = std::min(caps_.numextinsel, 4U);
    const auto at = std::ranges::find(used_.inputs, resource.number);
    if (at != used_.inputs.end()) return static_cast<unsigned>(at - used_.inputs.begin());
    if (used_.inputs.size() >= count) {
      problem(line, fmt::format("the unit selects {} external inputs at once", count),
              "Use fewer of them");
      return std::nullopt;
    }
    if (resource.number != 0 && caps_.is_ete()) {
      problem(line, "an ETE selects external inputs in registers that the driver does not write",
              "external 0 is accepted");
      return std::nullopt;
    }
    if (resource.number != 0) {
      beyond(line, "sysfs has no file for TRCEXTINSELR: every selector watches external input 0",
             "A configuration feature or a debugger can write it");
    }
    used_.inputs.push_back(resource.number);
    return static_cast<unsigned>(used_.inputs.size() - 1);
  }

  std::uint32_t no_selector(std::uint32_t line) {
    if (!std::exchange(used_.reported_selectors, true)) {
      problem(line,
              fmt::format("the plan needs more than the {} free selectors of the unit",
                          selector_end() < 2 ? 0 : selector_end() - 2),
              "Reuse an event, or use fewer of them");
    }
    return 0;
  }

  // An event as the byte in a register.
  std::uint32_t selector(const Event& event, std::uint32_t line) {
    switch (event.kind) {
      case EventKind::kNever:
        return 0;
      case EventKind::kAlways:
        return 1;
      case EventKind::kTerm: {
        const auto value = selector_value(event.a, line);
        if (!value) return 0;
        for (unsigned i = 0; i < used_.selectors.size(); ++i) {
          if (used_.selectors[i] == *value) return i + 2;
        }
        // A gap between pairs is used first.
        const auto gap = std::ranges::find_if(used_.selectors,
                                              [](const auto& held) { return !held.has_value(); });
        const auto index = static_cast<std::size_t>(gap - used_.selectors.begin());
        if (index + 2 >= selector_end()) return no_selector(line);
        if (gap == used_.selectors.end()) {
          used_.selectors.emplace_back(value);
        } else {
          *gap = value;
        }
        return static_cast<std::uint32_t>(index + 2);
      }
      case EventKind::kAnd:
      case EventKind::kOr: {
        const bool either = event.kind == EventKind::kOr;
        auto even = selector_value(event.a, line);
        auto odd = selector_value(event.b, line);
        if (!even || !odd) return 0;
        // a OR b is NOT (NOT a AND NOT b).
        if (either) {
          even = (*even ^ kSelectorInverted) | kPairInverted;
          odd = *odd ^ kSelectorInverted;
        }
        for (unsigned i = 0; i + 1 < used_.selectors.size(); i += 2) {
          if (used_.selectors[i] == even && used_.selectors[i + 1] == odd)
            return kEventPair | (i + 2) / 2;
        }
        std::size_t index = used_.selectors.size();
        if (index % 2 != 0) {
          used_.selectors.emplace_back();
          ++index;
        }
        if (index + 3 >= selector_end()) return no_selector(line);
        used_.selectors.emplace_back(even);
        used_.selectors.emplace_back(odd);
        return kEventPair | static_cast<std::uint32_t>(index + 2) / 2;
      }
    }
    return 0;
  }
  std::uint32_t selector(const PlanEvent& event) { return selector(event.event, event.line); }

  void collect_controls() {
    const Plan& p = plan_;
    values_.vinst = p.strobe ? 3U : 1U;
    if (p.when) values_.vinst = selector(*p.when);
    if (p.timestamps && caps_.ts_size != 0) values_.tsctlr = selector(*p.timestamps);
    for (unsigned i = 0; i < p.events.size() && i <= caps_.nr_event; ++i) {
      if (p.events[i]) values_.events |= selector(*p.events[i]) << (8 * i);
    }
    for (const PlanRange& range : p.broadcast_ranges) {
      if (caps_.nr_addr_cmp == 0) break;
      if (const auto pair = resource_range(range.match, range.line)) {
        values_.broadcast |= 1U << (*pair / 2);
      }
    }
    if (p.broadcast == BroadcastKind::kInside) values_.broadcast |= kBroadcastInside;
    collect_counters();
    collect_sequencer();
    collect_shots();
  }

  void collect_counters() {
    for (unsigned i = 0; i < kCounters; ++i) {
      const PlanCounter& counter = plan_.counters[i];
      if (counter.line == 0) continue;
      if (i >= caps_.nr_cntr) {
        problem(counter.line, fmt::format("the unit has no counter {}", i),
                caps_.nr_cntr == 0 ? "It has none (TRCIDR5.NUMCNTR is 0)"
                                   : fmt::format("0 to {} is accepted", caps_.nr_cntr - 1));
        continue;
      }
      if (counter.chain && i % 2 == 0) {
        problem(counter.line, fmt::format("counter {} cannot be chained", i),
                "Counters 1 and 3 count reloads of the one below");
      }
      values_.counters[i] = selector(counter.count, counter.line) |
                            selector(counter.reload_on, counter.line) << 8 |
                            (counter.self_reload ? 1U << 16 : 0) | (counter.chain ? 1U << 17 : 0);
    }
  }

  void collect_sequencer() {
    const auto used = [](const PlanEvent& event) { return event.line != 0; };
    std::uint32_t line = plan_.sequencer_reset.line;
    for (unsigned i = 0; i < kSequencerEvents; ++i) {
      if (used(plan_.forward[i])) line = plan_.forward[i].line;
      if (used(plan_.back[i])) line = plan_.back[i].line;
    }
    if (plan_.sequencer_state) line = plan_.sequencer_state->line;
    if (line == 0) return;
    values_.uses_sequencer = true;
    need(caps_.nrseqstate != 0, line, "sequencer", "TRCIDR5.NUMSEQSTATE is 0",
         "A counter or a single-shot control can remember one event");
    if (caps_.nrseqstate == 0) return;
    if (plan_.strobe && (used(plan_.forward[0]) || used(plan_.back[0]))) {
      problem(line, "strobing takes transition 0 of the sequencer", "Use 1 and 2");
    }
    for (unsigned i = 0; i < kSequencerEvents; ++i) {
      values_.sequencer[i] = selector(plan_.forward[i]) | selector(plan_.back[i]) << 8;
    }
    values_.sequencer_reset = selector(plan_.sequencer_reset);
  }

  void collect_shots() {
    for (unsigned i = 0; i < kSingleShots; ++i) {
      const PlanShot& shot = plan_.shots[i];
      if (shot.line == 0) continue;
      if (i >= caps_.nr_ss_cmp) {
        problem(shot.line, fmt::format("the unit has no single-shot control {}", i),
                caps_.nr_ss_cmp == 0 ? "It has none (TRCIDR4.NUMSSCC is 0)"
                                     : fmt::format("0 to {} is accepted", caps_.nr_ss_cmp - 1));
        continue;
      }
      std::uint32_t control = shot.repeat ? 1U << 24 : 0;
      for (const Match& match : shot.addresses) {
        if (const auto at = add_single(match, Tag::kSingle, shot.line)) control |= 1U << *at;
      }
      for (const Match& match : shot.ranges) {
        if (const auto at = resource_range(match, shot.line)) control |= 1U << (16 + *at / 2);
      }
      values_.shots[i] = control;
      if (shot.pe_inputs == 0) continue;
      if (shot.pe_inputs >> caps_.nr_pe_cmp != 0) {
        problem(shot.line, "the unit has no such PE comparator input", pe_inputs_remedy());
      } else if ((unit_.state.sscsr[i] & kShotHasPeInputs) == 0) {
        problem(shot.line, fmt::format("single-shot control {} takes no PE inputs", i),
                "TRCSSCSRn.PC is 0: use an address");
      } else if ((unit_.environment.unknown_sscsr >> i & 1) != 0) {
        note(shot.line,
             fmt::format("whether single-shot control {} takes PE inputs is not known", i),
             fmt::format(
                 "Bit 3 of TRCSSCSR{0} shows it; give its value with --reg TRCSSCSR{0}=VALUE", i));
      }
    }
  }

  // --- Writes. ---
  void write(std::string_view file, std::string value, std::uint32_t line) {
    const auto done = unit_.write(file, value);
    if (!done) {
      problem(line,
              fmt::format("the driver refuses '{}' in {} ({}): {}", value, file,
                          errno_name(done.error().error), done.error().rule),
              "This plan cannot be applied to this unit");
      return;
    }
    out_.writes.push_back({std::string(file), std::move(value), line});
  }
  void write(std::string_view file, std::uint64_t value, std::uint32_t line = 0) {
    write(file, fmt::format("0x{:x}", value), line);
  }

  void write_all() {
    const Plan& p = plan_;
    write("reset", 1);
    if (caps_.nr_pe != 0) write("pe", p.pe ? p.pe->value : 0, p.pe ? p.pe->line : 0);
    // Replaces whatever was set before; mode also clears what reset leaves in TRCCONFIGR.
    write("mode", mode_word());
    write("event_vinst", values_.vinst, p.when ? p.when->line : 0);
    const std::uint32_t hidden = ~traced_levels();
    const std::uint32_t line = p.levels ? p.levels->line : 0;
    write("s_exlevel_vinst", hidden & caps_.s_ex_level, line);
    write("ns_exlevel_vinst", hidden >> 4 & caps_.ns_ex_level & 7, line);
    if (!caps_.syncpr) write("syncfreq", p.sync ? p.sync->value : 12, p.sync ? p.sync->line : 0);
    if (p.cycles) {
      write("cyc_threshold", std::max(p.cycles->value, caps_.ccitmin), p.cycles->line);
    }
    if (caps_.trcbb && caps_.nr_addr_cmp != 0)
      write("bb_ctrl", values_.broadcast, p.broadcast_line);
    if (p.timestamps) write("event_ts", values_.tsctlr, p.timestamps->line);
    write_contexts();
    write_comparators();
    if (caps_.nr_pe_cmp != 0 && (p.start_inputs || p.stop_inputs)) {
      write("vinst_pe_cmp_start_stop",
            (p.start_inputs ? p.start_inputs->value : 0) |
                (p.stop_inputs ? p.stop_inputs->value : 0) << 16,
            p.start_inputs ? p.start_inputs->line : p.stop_inputs->line);
    }
    for (unsigned i = 0; i < used_.selectors.size(); ++i) {
      if (!used_.selectors[i]) continue;
      write("res_idx", i + 2);
      write("res_ctrl", *used_.selectors[i]);
    }
    write_events();
    write_counters();
    write_sequencer();
    write_shots();
  }

  void write_events() {
    if (values_.events == 0 && plan_.events_in_trace == 0) return;
    std::uint32_t line = 0;
    for (const auto& event : plan_.events) {
      if (event) line = event->line;
    }
    write("event", values_.events, line);
    // With a single event, the driver uses bit 1 instead of bit 0.
    std::uint32_t in_trace = plan_.events_in_trace;
    if (caps_.nr_event == 0 && (in_trace & 1) != 0) {
      beyond(line, "with a single event the driver cannot set TRCEVENTCTL1R.INSTEN[0]",
             "event-output 0 is accepted");
      values_.instruction_events = 1;
      in_trace = 0;
    }
    write("event_instren", in_trace, line);
  }

  [[nodiscard]] bool starts_stopped() const {
    if (plan_.begin_started) return !plan_.begin_started->value;
    const bool starts =
        std::ranges::any_of(plan_.points, [](const PlanPoint& point) { return !point.stop; });
    return starts || plan_.start_inputs.has_value();
  }

  [[nodiscard]] std::uint32_t mode_word() const {
    std::uint32_t word = starts_stopped() ? 0 : mode::kStartStop;
    for (const Statement& statement : plan_statements()) {
      if (statement.mode == nullptr || !statement.line(plan_)) continue;
      word |= statement.mode(statement, plan_);
    }
    return word;
  }

  void write_contexts() {
    std::uint64_t id_masks = 0;
    std::uint64_t vmid_masks = 0;
    for (unsigned i = 0; i < used_.contexts.size(); ++i) {
      const ContextSlot& slot = used_.contexts[i];
      if (slot.context_id) {
        write("ctxid_idx", i, slot.line);
        write("ctxid_pid", slot.context_id->value, slot.line);
        id_masks |= std::uint64_t{slot.context_id->ignored} << (8 * i);
      }
      if (slot.vmid) {
        write("vmid_idx", i, slot.line);
        write("vmid_val", slot.vmid->value, slot.line);
        vmid_masks |= std::uint64_t{slot.vmid->ignored} << (8 * i);
      }
    }
    write_masks("ctxid_masks", id_masks, caps_.numcidc);
    write_masks("vmid_masks", vmid_masks, caps_.numvmidc);
  }
  void write_masks(std::string_view file, std::uint64_t masks, unsigned count) {
    if (masks == 0) return;
    const std::uint64_t low = masks & 0xFFFFFFFF;
    write(file,
          count > 4 ? fmt::format("0x{:x} 0x{:x}", low, masks >> 32) : fmt::format("0x{:x}", low),
          0);
  }

  void write_comparators() {
    for (unsigned i = 0; i < used_.comparators.size(); ++i) {
      const Comparator& at = used_.comparators[i];
      if (at.tag == Tag::kNone) continue;
      const bool second_half = at.tag == Tag::kRange && i % 2 != 0;
      const Match& match = at.match;
      if (second_half && match.no_levels == 0 && !match.context_id && !match.vmid) continue;
      write("addr_idx", i, at.line);
      if (!second_half) write_address(at);
      // Both halves of a range, as nothing copies one to the other.
      write_qualifiers(at);
    }
  }
  void write_address(const Comparator& at) {
    switch (at.tag) {
      case Tag::kRange:
        write("addr_range",
              fmt::format("0x{:x} 0x{:x} {}", at.match.first, at.match.last, at.exclude ? 1 : 0),
              at.line);
        break;
      case Tag::kStart:
        write("addr_start", at.match.first, at.line);
        break;
      case Tag::kStop:
        write("addr_stop", at.match.first, at.line);
        break;
      default:
        write("addr_single", at.match.first, at.line);
        break;
    }
  }
  void write_qualifiers(const Comparator& at) {
    if (at.match.no_levels != 0) write("addr_exlevel_s_ns", at.match.no_levels, at.line);
    if (!at.match.context_id && !at.match.vmid) return;
    write("addr_ctxtype",
          std::string(at.match.context_id && at.match.vmid ? "all"
                      : at.match.context_id                ? "ctxid"
                                                           : "vmid"),
          at.line);
    if (std::max(caps_.numcidc, caps_.numvmidc) > 1) {
      write("addr_context", context_for(at.match, at.line).value_or(0), at.line);
    }
  }

  void write_counters() {
    if (plan_.strobe) {
      // In the way in which the driver's feature `strobing` programs it.
      const std::uint32_t line = plan_.strobe->line;
      write_counter(0, 0, plan_.strobe->window, 0x10001, line);
      write_counter(1, 0, plan_.strobe->period, 0x8102, line);
    }
    for (unsigned i = 0; i < kCounters; ++i) {
      const PlanCounter& counter = plan_.counters[i];
      if (counter.line != 0) {
        write_counter(i, counter.value, counter.reload, values_.counters[i], counter.line);
      }
    }
  }
  void write_counter(unsigned n, std::uint32_t value, std::uint32_t reload, std::uint32_t control,
                     std::uint32_t line) {
    write("cntr_idx", n, line);
    write("cntrldvr", reload, line);
    write("cntr_val", value, line);
    write("cntr_ctrl", control, line);
  }

  void write_sequencer() {
    if (plan_.strobe && caps_.nrseqstate != 0) values_.sequencer[0] = 0x0081;
    if (!values_.uses_sequencer && !plan_.strobe) return;
    if (caps_.nrseqstate == 0) return;
    for (unsigned i = 0; i < kSequencerEvents; ++i) {
      if (values_.sequencer[i] == 0) continue;
      write("seq_idx", i);
      write("seq_event", values_.sequencer[i], plan_.forward[i].line);
    }
    if (values_.sequencer_reset != 0) {
      write("seq_reset_event", values_.sequencer_reset, plan_.sequencer_reset.line);
    }
    if (plan_.sequencer_state) {
      write("seq_state", plan_.sequencer_state->value, plan_.sequencer_state->line);
    }
  }

  void write_shots() {
    for (unsigned i = 0; i < kSingleShots; ++i) {
      if (plan_.shots[i].line == 0) continue;
      write("sshot_idx", i, plan_.shots[i].line);
      write("sshot_ctrl", values_.shots[i], plan_.shots[i].line);
      if (plan_.shots[i].pe_inputs != 0) {
        write("sshot_pe_ctrl", plan_.shots[i].pe_inputs, plan_.shots[i].line);
      }
    }
  }

  // --- Settings that sysfs does not have. ---
  void beyond(std::uint32_t line, std::string rule, std::string remedy) {
    out_.beyond_sysfs.push_back({line, std::move(rule), std::move(remedy)});
  }
  void note(std::uint32_t line, std::string rule, std::string remedy) {
    out_.notes.push_back({line, std::move(rule), std::move(remedy)});
  }

  void add_bits(std::string_view name, std::uint64_t set, std::uint64_t clear = 0) {
    if (const auto value = out_.image.find(name)) {
      out_.image.set(name, (*value & ~clear) | set);
    }
  }

  void overlay() {
    if (plan_.stall && plan_.stall->value != 0) {
      beyond(plan_.stall->line, "sysfs has no file for TRCSTALLCTLR.LEVEL, which stays 0",
             "A configuration feature or a debugger can write it; stall alone is accepted");
      add_bits("TRCSTALLCTLR", plan_.stall->value);
    }
    if (plan_.trace_vmid && plan_.trace_vmid->value) {
      beyond(plan_.trace_vmid->line, "sysfs has no file for TRCCONFIGR.VMIDOPT",
             "perf's contextid2 sets it, with a kernel at EL2");
      add_bits("TRCCONFIGR", kConfigVmidOption);
    }
    std::uint32_t inputs = 0;
    for (unsigned i = 0; i < used_.inputs.size(); ++i) inputs |= used_.inputs[i] << (8 * i);
    if (inputs != 0) add_bits("TRCEXTINSELR", inputs);
    if (values_.instruction_events != 0) add_bits("TRCEVENTCTL1R", values_.instruction_events);
    if (values_.unfiltered_pairs != 0) add_bits("TRCVIIECTLR", 0, values_.unfiltered_pairs);
  }

  void add_notes() {
    if (!plan_.levels && (caps_.ns_ex_level & 4) != 0) {
      note(0, "EL2 is traced, since the plan names no levels", "levels el0 el1 leaves it out");
    }
    const bool stops_only =
        !plan_.points.empty() && std::ranges::all_of(plan_.points, &PlanPoint::stop);
    if (stops_only && starts_stopped() && !plan_.start_inputs) {
      note(plan_.begin_started->line, "nothing will ever start the trace",
           "Add a start line, or begin started");
    }
  }

  const Plan& plan_;
  Unit unit_;
  const Capabilities caps_;
  const unsigned external_inputs_;  ///< TRCIDR5.NUMEXTIN without the driver's truncation.
  std::vector<PlanProblem>& problems_;
  CompiledPlan out_;

  /// The resources of the unit that the plan has taken so far.
  struct Used {
    std::vector<Comparator> comparators{};
    std::array<ContextSlot, kContextComparators> contexts{};
    std::vector<std::optional<std::uint32_t>> selectors{};  ///< From number 2 on; empty: a gap.
    std::vector<unsigned> inputs{};     ///< The inputs of the external input selectors.
    bool reported_comparators = false;  ///< A problem says that there are not enough.
    bool reported_selectors = false;
  };
  Used used_;

  /// The values of registers that select resources; written once all are taken.
  struct Values {
    std::uint32_t vinst = 1;
    std::uint32_t tsctlr = 0;
    std::uint32_t events = 0;
    std::uint32_t instruction_events = 0;
    std::uint32_t broadcast = 0;
    std::uint32_t unfiltered_pairs = 0;
    std::array<std::uint32_t, kCounters> counters{};
    std::array<std::uint32_t, kSequencerEvents> sequencer{};
    std::uint32_t sequencer_reset = 0;
    bool uses_sequencer = false;
    std::array<std::uint32_t, kSingleShots> shots{};
  };
  Values values_;
};

}  // namespace

std::optional<CompiledPlan> compile_plan(const Plan& plan, const IdRegisters& id,
                                         const Environment& environment,
                                         std::vector<PlanProblem>& problems) {
  return Compiler(plan, id, environment, problems).run();
}

std::string acceptable_plan_text(const Plan& plan, const IdRegisters& id,
                                 const Environment& environment) {
  std::vector<std::string> lines = {std::string(kPlanHeading)};
  for (std::string& line : plan_lines(plan)) lines.push_back(std::move(line));
  const auto joined = [&lines] {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  };
  std::vector<PlanProblem> problems;
  for (bool changed = true; changed;) {
    problems.clear();
    changed = false;
    const auto parsed = parse_plan(joined(), nullptr, problems);
    if (parsed) static_cast<void>(compile_plan(*parsed, id, environment, problems));
    if (problems.empty()) return joined();
    for (const PlanProblem& problem : problems) {
      if (problem.line <= 1 || problem.line > lines.size()) continue;
      std::string& line = lines[problem.line - 1];
      if (line.starts_with('#')) continue;
      line = fmt::format("# {}: {}.", line, problem.rule);
      changed = true;
    }
  }
  // The problems concern no single line, so that every line becomes a comment.
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].starts_with('#')) lines[i].insert(0, "# ");
  }
  for (const PlanProblem& problem : problems) lines.push_back("# " + problem.text());
  return joined();
}

bool contains_plan(const Plan& whole, const Plan& part, std::vector<std::string>& missing) {
  const auto lines = plan_lines(whole);
  const std::size_t before = missing.size();
  Plan wanted = part;
  wanted.sinks.clear();  // Sinks are other devices.
  if (wanted.cycles && wanted.cycles->value == 0) {
    wanted.cycles.reset();
    if (!whole.cycles) missing.emplace_back("cycles");
  }
  for (std::string& line : plan_lines(wanted)) {
    if (std::ranges::find(lines, line) == lines.end()) missing.push_back(std::move(line));
  }
  return missing.size() == before;
}

}  // namespace waymark::etm4x
