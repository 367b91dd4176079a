// A plan as text, in its canonical spelling.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {
namespace {

std::string context_text(const ContextMatch& match) {
  return match.ignored == 0 ? fmt::format("0x{:x}", match.value)
                            : fmt::format("0x{:x}/0x{:x}", match.value, match.ignored);
}

std::string term_text(const Term& term) {
  // The order has no meaning, so this is the canonical one.
  std::vector<std::string> resources;
  for (const Resource& resource : term.any) resources.push_back(resource_text(resource));
  std::ranges::sort(resources);
  return fmt::format("{}{}", term.inverted ? "not " : "", fmt::join(resources, ", "));
}

// Values of registers that a plan cannot express are numbers, which plans do not accept.
std::string load_store_text(unsigned kinds) {
  constexpr std::array<std::string_view, 8> kWords = {"", "loads", "stores", "loads-stores",
                                                      "", "",      "",       "all"};
  const std::string_view word = kinds < kWords.size() ? kWords[kinds] : "";
  return word.empty() ? fmt::format("{}", kinds) : std::string(word);
}

std::string_view q_text(unsigned kinds) {
  constexpr std::array<std::string_view, 4> kWords = {"0", "counted", "2", "all"};
  return kWords[kinds & 3];
}

}  // namespace

std::string resource_text(const Resource& resource) {
  switch (resource.kind) {
    case ResourceKind::kExternal:
      return fmt::format("external {}", resource.number);
    case ResourceKind::kPeInput:
      return fmt::format("pe-input {}", resource.number);
    case ResourceKind::kCounter:
      return fmt::format("counter {}", resource.number);
    case ResourceKind::kSequencer:
      return fmt::format("sequencer {}", resource.number);
    case ResourceKind::kSingleShot:
      return fmt::format("single-shot {}", resource.number);
    case ResourceKind::kAddress:
      return "address " + match_text(resource.match, false);
    case ResourceKind::kRange:
      return "range " + match_text(resource.match, true);
    case ResourceKind::kContextId:
      return "context-id " + context_text(resource.match.context_id.value_or(ContextMatch{}));
    case ResourceKind::kVmid:
      return "vmid " + context_text(resource.match.vmid.value_or(ContextMatch{}));
  }
  return "";
}

std::string levels_text(std::uint32_t levels, std::string_view separator) {
  if (levels == 0) return "none";
  std::string text;
  // The usual ones first.
  for (const unsigned level : {4U, 5U, 6U, 0U, 1U, 2U, 3U}) {
    if ((levels >> level & 1) == 0) continue;
    if (!text.empty()) text += separator;
    text += kLevelNames[level];
  }
  return text;
}

// As parse_plan() reads it.
std::string range_text(const Match& match) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  if (match.last != kTop) return fmt::format("0x{:x}..0x{:x}", match.first, match.last + 1);
  if (match.first == 0) return "all";
  return fmt::format("0x{:x}+0x{:x}", match.first, kTop - match.first + 1);
}

std::string match_text(const Match& match, bool range) {
  std::string text = range ? range_text(match) : fmt::format("0x{:x}", match.first);
  if (match.context_id) text += " context-id " + context_text(*match.context_id);
  if (match.vmid) text += " vmid " + context_text(*match.vmid);
  if (match.no_levels != 0) text += " at " + levels_text(~match.no_levels & 0x7FU, "+");
  return text;
}

std::string event_text(const Event& event) {
  switch (event.kind) {
    case EventKind::kNever:
      return "never";
    case EventKind::kAlways:
      return "always";
    case EventKind::kTerm:
      return term_text(event.a);
    case EventKind::kAnd:
      return term_text(event.a) + " and " + term_text(event.b);
    case EventKind::kOr:
      return term_text(event.a) + " or " + term_text(event.b);
  }
  return "";
}

std::vector<std::string> plan_lines(const Plan& plan) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string line) { lines.push_back(std::move(line)); };
  const auto flag = [&](const Setting<bool>& setting, std::string_view word) {
    if (setting) add(std::string(word));
  };
  if (plan.pe) add(fmt::format("pe {}", plan.pe->value));
  for (const PlanRange& range : plan.ranges) {
    add(fmt::format("{} {}", range.exclude ? "exclude" : "include", match_text(range.match, true)));
  }
  for (const PlanPoint& point : plan.points) {
    add(fmt::format("{} {}", point.stop ? "stop" : "start", match_text(point.match, false)));
  }
  for (unsigned i = 0; i < 8; ++i) {
    if (plan.start_inputs && (plan.start_inputs->value >> i & 1) != 0) {
      add(fmt::format("start-input {}", i));
    }
    if (plan.stop_inputs && (plan.stop_inputs->value >> i & 1) != 0) {
      add(fmt::format("stop-input {}", i));
    }
  }
  if (plan.begin_started) add(plan.begin_started->value ? "begin started" : "begin stopped");
  if (plan.levels) add("levels " + levels_text(plan.levels->value));
  if (plan.when) add("when " + event_text(plan.when->event));
  flag(plan.trace_context_id, "trace-context-id");
  if (plan.trace_vmid) add(plan.trace_vmid->value ? "trace-vmid contextidr-el2" : "trace-vmid");
  if (plan.cycles) {
    add(plan.cycles->value == 0 ? "cycles" : fmt::format("cycles {}", plan.cycles->value));
  }
  if (plan.timestamps) {
    add(plan.timestamps->event.kind == EventKind::kNever
            ? "timestamps"
            : "timestamps " + event_text(plan.timestamps->event));
  }
  if (plan.broadcast == BroadcastKind::kEverywhere) add("branch-broadcast everywhere");
  for (const PlanRange& range : plan.broadcast_ranges) {
    add(fmt::format("branch-broadcast {} {}",
                    plan.broadcast == BroadcastKind::kInside ? "inside" : "outside",
                    match_text(range.match, true)));
  }
  flag(plan.return_stack, "return-stack");
  if (plan.q_elements) add(fmt::format("q-elements {}", q_text(plan.q_elements->value)));
  if (plan.conditional) {
    add(fmt::format("conditional {}", load_store_text(plan.conditional->value)));
  }
  if (plan.p0) add(fmt::format("p0 {}", load_store_text(plan.p0->value)));
  if (plan.stall) {
    add(plan.stall->value == 0 ? "stall" : fmt::format("stall level {}", plan.stall->value));
  }
  flag(plan.stall_priority, "stall-priority");
  flag(plan.no_overflow, "no-overflow");
  flag(plan.trace_reset, "trace-reset");
  flag(plan.trace_error, "trace-error");
  flag(plan.atb_trigger, "atb-trigger");
  flag(plan.low_power_override, "low-power-override");
  if (plan.sync) {
    add(plan.sync->value == 0 ? "sync never" : fmt::format("sync {}", 1U << plan.sync->value));
  }
  for (unsigned i = 0; i < plan.events.size(); ++i) {
    if (!plan.events[i]) continue;
    const bool traced = (plan.events_in_trace >> i & 1) != 0;
    if (!traced && plan.events[i]->event.kind == EventKind::kNever) continue;
    add(fmt::format("{} {} {}", traced ? "event" : "event-output", i,
                    event_text(plan.events[i]->event)));
  }
  for (unsigned i = 0; i < plan.counters.size(); ++i) {
    const PlanCounter& counter = plan.counters[i];
    if (counter.line == 0) continue;
    if (counter.value != 0) add(fmt::format("counter {} value {}", i, counter.value));
    if (counter.reload != 0) add(fmt::format("counter {} reload {}", i, counter.reload));
    if (counter.self_reload) add(fmt::format("counter {} self-reload", i));
    if (counter.chain) add(fmt::format("counter {} chain", i));
    if (counter.count.kind != EventKind::kNever) {
      add(fmt::format("counter {} count {}", i, event_text(counter.count)));
    }
    if (counter.reload_on.kind != EventKind::kNever) {
      add(fmt::format("counter {} reload-on {}", i, event_text(counter.reload_on)));
    }
  }
  for (unsigned i = 0; i < plan.forward.size(); ++i) {
    if (plan.forward[i].event.kind != EventKind::kNever) {
      add(fmt::format("sequencer {} forward {}", i, event_text(plan.forward[i].event)));
    }
    if (plan.back[i].event.kind != EventKind::kNever) {
      add(fmt::format("sequencer {} back {}", i, event_text(plan.back[i].event)));
    }
  }
  if (plan.sequencer_reset.event.kind != EventKind::kNever) {
    add("sequencer reset " + event_text(plan.sequencer_reset.event));
  }
  if (plan.sequencer_state) add(fmt::format("sequencer state {}", plan.sequencer_state->value));
  for (unsigned i = 0; i < plan.shots.size(); ++i) {
    const PlanShot& shot = plan.shots[i];
    if (shot.line == 0) continue;
    for (const Match& match : shot.addresses) {
      add(fmt::format("single-shot {} address {}", i, match_text(match, false)));
    }
    for (const Match& match : shot.ranges) {
      add(fmt::format("single-shot {} range {}", i, match_text(match, true)));
    }
    for (unsigned input = 0; input < 8; ++input) {
      if ((shot.pe_inputs >> input & 1) != 0)
        add(fmt::format("single-shot {} pe-input {}", i, input));
    }
    if (shot.repeat) add(fmt::format("single-shot {} repeat", i));
  }
  if (plan.strobe) {
    add(fmt::format("strobe window {} period {}", plan.strobe->window, plan.strobe->period));
  }
  for (const PlanSink& sink : plan.sinks) {
    add(sink.buffer == 0 ? fmt::format("sink {}", sink.name)
                         : fmt::format("sink {} buffer {}", sink.name, sink.buffer));
  }
  return lines;
}

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format("{}\n", kPlanHeading);
  for (const std::string& line : plan_lines(plan)) text += line + "\n";
  return text;
}

}  // namespace waymark::etm4x
