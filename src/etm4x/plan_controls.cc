// The statements of a plan for events, counters, the sequencer and single-shot controls, and for
// what is around the unit.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan_settings.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

template <bool kInTrace>
Parsed<void> parse_event(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(n, words.number("event number", 0, 3));
  WAYMARK_PLAN_TRY(found, words.plan_event());
  if (const auto& other = plan.events[in_memory(n)]) {
    return wrong(fmt::format("line {} already has event {}", other->line, n),
                 "Choose another number");
  }
  plan.events[in_memory(n)] = std::move(found);
  if (kInTrace) plan.events_in_trace |= 1U << n;
  return {};
}
/// The lines of `event` and `event-output`.
void print_events(const Statement& /*row*/, const Plan& plan, PlanLines& lines) {
  for (unsigned i = 0; i < plan.events.size(); ++i) {
    if (!plan.events[i]) continue;
    const Event& event = plan.events[i]->event;
    const bool traced = (plan.events_in_trace >> i & 1) != 0;
    if (!traced && event.kind == EventKind::kNever) continue;
    lines.push_back(
        fmt::format("{} {} {}", traced ? "event" : "event-output", i, event_text(event)));
  }
}

/// A setting of a counter or a single-shot control.
template <class Thing>
struct Part {
  std::string_view word;
  std::string_view form;
  Parsed<void> (*parse)(PlanWords& words, Thing& thing);
  /// The text after the word of each line.
  void (*print)(const Thing& thing, const std::function<void(std::string_view text)>& line);
};

template <class Thing, std::size_t kSize>
const Part<Thing>* part_of(const std::array<Part<Thing>, kSize>& parts, std::string_view word) {
  const auto found = std::ranges::find(parts, word, &Part<Thing>::word);
  return found == parts.end() ? nullptr : &*found;
}
template <class Thing, std::size_t kSize>
std::unexpected<Wrong> no_part(const std::array<Part<Thing>, kSize>& parts, std::string_view word,
                               std::string_view what) {
  std::string known;
  for (const Part<Thing>& part : parts)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", part.form);
  return wrong(fmt::format("'{}' is not a setting of a {}", word, what), "Accepted: " + known);
}
template <class Things, class Parts>
void print_parts(const Statement& row, const Things& things, const Parts& parts, PlanLines& lines) {
  for (unsigned i = 0; i < things.size(); ++i) {
    if (things[i].line == 0) continue;
    for (const auto& part : parts) {
      part.print(things[i], [&](std::string_view text) {
        lines.push_back(
            fmt::format("{} {} {}{}{}", row.word, i, part.word, text.empty() ? "" : " ", text));
      });
    }
  }
}

template <auto kMember>
constexpr Part<PlanCounter> counter_number(std::string_view word, std::string_view form) {
  return {word, form,
          [](PlanWords& words, PlanCounter& counter) -> Parsed<void> {
            WAYMARK_PLAN_TRY(value, words.number("counter value", 0, 0xFFFF));
            counter.*kMember = static_cast<std::uint32_t>(value);
            return {};
          },
          [](const PlanCounter& counter, const auto& line) {
            if (counter.*kMember != 0) line(fmt::format("{}", counter.*kMember));
          }};
}
template <auto kMember>
constexpr Part<PlanCounter> counter_event(std::string_view word, std::string_view form) {
  return {word, form,
          [](PlanWords& words, PlanCounter& counter) -> Parsed<void> {
            WAYMARK_PLAN_TRY(found, words.event());
            counter.*kMember = std::move(found);
            return {};
          },
          [](const PlanCounter& counter, const auto& line) {
            if ((counter.*kMember).kind != EventKind::kNever) line(event_text(counter.*kMember));
          }};
}
template <class Thing, auto kMember>
constexpr Part<Thing> part_flag(std::string_view word) {
  return {word, word,
          [](PlanWords& /*words*/, Thing& thing) -> Parsed<void> {
            thing.*kMember = true;
            return {};
          },
          [](const Thing& thing, const auto& line) {
            if (thing.*kMember) line("");
          }};
}

constexpr std::array kCounterParts = {
    counter_number<&PlanCounter::value>("value", "value N"),
    counter_number<&PlanCounter::reload>("reload", "reload N"),
    part_flag<PlanCounter, &PlanCounter::self_reload>("self-reload"),
    part_flag<PlanCounter, &PlanCounter::chain>("chain"),
    counter_event<&PlanCounter::count>("count", "count EVENT"),
    counter_event<&PlanCounter::reload_on>("reload-on", "reload-on EVENT"),
};

Parsed<void> parse_counter(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(n, words.number("counter", 0, kCounters - 1));
  PlanCounter& counter = plan.counters[static_cast<std::size_t>(n)];
  if (counter.line == 0) counter.line = words.line();
  const std::string_view word = words.take();
  if (auto first = words.once(fmt::format("counter {} {}", n, word)); !first) return first;
  if (const auto* part = part_of(kCounterParts, word)) return part->parse(words, counter);
  return no_part(kCounterParts, word, "counter");
}
void print_counters(const Statement& row, const Plan& plan, PlanLines& lines) {
  print_parts(row, plan.counters, kCounterParts, lines);
}

Parsed<void> parse_sequencer(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  if (words.take_if("reset")) {
    if (auto first = words.once("sequencer reset"); !first) return first;
    WAYMARK_PLAN_TRY(found, words.plan_event());
    plan.sequencer_reset = std::move(found);
    return {};
  }
  if (words.take_if("state")) {
    if (auto first = words.once("sequencer state"); !first) return first;
    WAYMARK_PLAN_TRY(state, words.number("sequencer state", 0, 3));
    plan.sequencer_state = {static_cast<std::uint8_t>(state), words.line()};
    return {};
  }
  WAYMARK_PLAN_TRY(n, words.number("sequencer transition", 0, kSequencerEvents - 1));
  const std::string_view word = words.take();
  if (word != "forward" && word != "back") {
    return wrong(fmt::format("'{}' is not a setting of a sequencer", word),
                 "Accepted: N forward EVENT, N back EVENT, reset EVENT, state N; N is 0 for the "
                 "states 0 and 1");
  }
  if (auto first = words.once(fmt::format("sequencer {} {}", n, word)); !first) return first;
  WAYMARK_PLAN_TRY(found, words.plan_event());
  (word == "forward" ? plan.forward : plan.back)[static_cast<std::size_t>(n)] = std::move(found);
  return {};
}
void print_sequencer(const Statement& row, const Plan& plan, PlanLines& lines) {
  const auto add = [&](const std::string& what, const PlanEvent& event) {
    if (event.event.kind != EventKind::kNever)
      lines.push_back(fmt::format("{} {} {}", row.word, what, event_text(event.event)));
  };
  for (unsigned i = 0; i < plan.forward.size(); ++i) {
    add(fmt::format("{} forward", i), plan.forward[i]);
    add(fmt::format("{} back", i), plan.back[i]);
  }
  add("reset", plan.sequencer_reset);
  if (plan.sequencer_state)
    lines.push_back(fmt::format("{} state {}", row.word, plan.sequencer_state->value));
}

template <auto kMatches, bool kRange>
constexpr Part<PlanShot> shot_matches(std::string_view word, std::string_view form) {
  return {word, form,
          [](PlanWords& words, PlanShot& shot) -> Parsed<void> {
            WAYMARK_PLAN_TRY(match, kRange ? words.range() : words.address());
            (shot.*kMatches).push_back(match);
            return {};
          },
          [](const PlanShot& shot, const auto& line) {
            for (const Match& match : shot.*kMatches) line(match_text(match, kRange));
          }};
}
constexpr std::array kShotParts = {
    shot_matches<&PlanShot::addresses, false>("address", "address ADDRESS"),
    shot_matches<&PlanShot::ranges, true>("range", "range RANGE"),
    Part<PlanShot>{"pe-input", "pe-input N",
                   [](PlanWords& words, PlanShot& shot) -> Parsed<void> {
                     WAYMARK_PLAN_TRY(input, words.number("PE comparator input", 0, 7));
                     shot.pe_inputs |= 1U << input;
                     return {};
                   },
                   [](const PlanShot& shot, const auto& line) {
                     for (unsigned input = 0; input < 8; ++input)
                       if ((shot.pe_inputs >> input & 1) != 0) line(fmt::format("{}", input));
                   }},
    part_flag<PlanShot, &PlanShot::repeat>("repeat"),
};

Parsed<void> parse_single_shot(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(n, words.number("single-shot control", 0, kSingleShots - 1));
  PlanShot& shot = plan.shots[static_cast<std::size_t>(n)];
  if (shot.line == 0) shot.line = words.line();
  const std::string_view word = words.take();
  if (shot.addresses.size() + shot.ranges.size() >= kMostItems) return too_many();
  if (const auto* part = part_of(kShotParts, word)) return part->parse(words, shot);
  return no_part(kShotParts, word, "single-shot control");
}
void print_single_shots(const Statement& row, const Plan& plan, PlanLines& lines) {
  print_parts(row, plan.shots, kShotParts, lines);
}

Parsed<void> parse_strobe(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  constexpr std::string_view kForm = "Accepted: window N period N";
  PlanStrobe found{0, 0, words.line()};
  while (!words.empty()) {
    const std::string_view word = words.take();
    if (word != "window" && word != "period") {
      return wrong(fmt::format("'{}' is not a setting of strobing", word), std::string(kForm));
    }
    WAYMARK_PLAN_TRY(value, words.number(word, 1, 0xFFFF));
    std::uint32_t& setting = word == "window" ? found.window : found.period;
    if (setting != 0) return wrong(fmt::format("'{}' is given twice", word), std::string(kForm));
    setting = static_cast<std::uint32_t>(value);
  }
  if (found.window == 0 || found.period == 0) {
    return wrong("strobing needs a window (cycles) and a period (windows)", std::string(kForm));
  }
  plan.strobe = found;
  return {};
}
void print_strobe(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.strobe) return;
  lines.push_back(
      fmt::format("{} window {} period {}", row.word, plan.strobe->window, plan.strobe->period));
}

Parsed<void> parse_sink(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  PlanSink found{std::string(words.take()), 0, words.line()};
  // The name becomes part of paths and of a script.
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  };
  if (found.name.empty() || found.name.starts_with('.') ||
      !std::ranges::all_of(found.name, plain)) {
    return wrong(fmt::format("'{}' is not a device name", found.name),
                 "A name of letters, digits, `_`, `-` and `.` is accepted, such as tmc_etr0");
  }
  if (words.take_if("buffer")) {
    constexpr std::uint64_t kPage = 4096;
    WAYMARK_PLAN_TRY(bytes, words.size("buffer size in bytes", kPage, std::uint64_t{1} << 40));
    if (bytes % kPage != 0) {
      const std::uint64_t below = bytes / kPage * kPage;
      return wrong(fmt::format("a buffer of {} bytes is not made of whole pages", bytes),
                   fmt::format("{} or {} is accepted", below, below + kPage));
    }
    found.buffer = bytes;
  }
  if (plan.sinks.size() >= kMostItems) return too_many();
  plan.sinks.push_back(std::move(found));
  return {};
}
void print_sinks(const Statement& row, const Plan& plan, PlanLines& lines) {
  for (const PlanSink& sink : plan.sinks) {
    lines.push_back(sink.buffer == 0
                        ? fmt::format("{} {}", row.word, sink.name)
                        : fmt::format("{} {} buffer {}", row.word, sink.name, sink.buffer));
  }
}

Parsed<void> parse_pe(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  WAYMARK_PLAN_TRY(value, words.number("PE", 0, 31));
  plan.pe = {static_cast<std::uint32_t>(value), words.line()};
  return {};
}
void print_pe(const Statement& row, const Plan& plan, PlanLines& lines) {
  // The first line.
  if (plan.pe) lines.insert(lines.begin(), fmt::format("{} {}", row.word, plan.pe->value));
}
std::optional<PlanProblem> check_pe(const Plan& plan, const Capabilities& caps) {
  if (plan.pe->value <= caps.nr_pe) return std::nullopt;
  return PlanProblem{plan.pe->line, fmt::format("the unit cannot trace PE {}", plan.pe->value),
                     fmt::format("0 to {} is accepted", caps.nr_pe)};
}
void read_pe(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  // A unit of one PE has no TRCPROCSELR.
  if (registers.known(row.reg) || registers.caps.nr_pe == 0)
    plan.pe = {registers.reg(row.reg), kReadLine};
}

constexpr std::array kControlStatements = {
    Statement{.word = "event",
              .form = "event N EVENT",
              .parse = parse_event<true>,
              .print = print_events},
    Statement{.word = "event-output", .form = "event-output N EVENT", .parse = parse_event<false>},
    Statement{.word = "counter",
              .form = "counter N value N|reload N|self-reload|chain|count EVENT|reload-on EVENT",
              .parse = parse_counter,
              .print = print_counters},
    Statement{.word = "sequencer",
              .form = "sequencer N forward EVENT|N back EVENT|reset EVENT|state N",
              .parse = parse_sequencer,
              .print = print_sequencer},
    Statement{.word = "single-shot",
              .form = "single-shot N address ADDRESS|range RANGE|pe-input N|repeat",
              .parse = parse_single_shot,
              .print = print_single_shots},
    Statement{.word = "strobe",
              .form = "strobe window N period N",
              .once = true,
              .parse = parse_strobe,
              .print = print_strobe},
    Statement{.word = "pe",
              .form = "pe N",
              .once = true,
              .parse = parse_pe,
              .print = print_pe,
              .line = line_of<&Plan::pe>,
              .read = read_pe,
              .check = check_pe,
              .reg = "TRCPROCSELR"},
    Statement{.word = "sink",
              .form = "sink NAME [buffer BYTES]",
              .parse = parse_sink,
              .print = print_sinks},
};

}  // namespace

std::span<const Statement> control_statements() { return kControlStatements; }

}  // namespace waymark::etm4x
