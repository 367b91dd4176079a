// Parses the description file line by line.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>

#include "waymark/base/number.h"
#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {
namespace {

constexpr std::size_t kMostProblems = 100;
constexpr std::size_t kMostItems = 1024;
constexpr std::size_t kMostOfOneKind = 16;  // A selector has 16 bits for resources.
constexpr std::uint8_t kAllLevels = 0x7F;

// The words of a line without its comment; a comma is a separate word.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  std::size_t at = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (at < line.size()) {
    if (blank(line[at])) {
      ++at;
    } else if (line[at] == ',') {
      words.push_back(line.substr(at++, 1));
    } else {
      const std::size_t from = at;
      while (at < line.size() && !blank(line[at]) && line[at] != ',') ++at;
      words.push_back(line.substr(from, at - from));
    }
  }
  return words;
}

// Raised only inside the parser of one line.
struct Wrong {
  std::string rule;
  std::string remedy;
};
template <class T>
using Parsed = std::expected<T, Wrong>;

std::unexpected<Wrong> wrong(std::string rule, std::string remedy) {
  return std::unexpected(Wrong{std::move(rule), std::move(remedy)});
}

// NOLINTBEGIN(bugprone-macro-parentheses): `name` becomes a variable.
#define WAYMARK_PLAN_TRY(name, expression)                           \
  auto name##_parsed = (expression);                                 \
  if (!name##_parsed) return std::unexpected(name##_parsed.error()); \
  auto name = std::move(*name##_parsed)
// NOLINTEND(bugprone-macro-parentheses)

class LineParser {
 public:
  using Places = std::map<std::string, std::uint32_t, std::less<>>;

  /// `places` has the lines of the settings so far.
  LineParser(std::span<const std::string_view> words, std::uint32_t line, Plan& plan,
             Places& places, const SymbolResolver& symbols)
      : rest_(words), line_(line), plan_(plan), places_(places), symbols_(symbols) {}

  Parsed<void> parse() {
    const std::string_view word = take();
    for (const Statement& statement : kStatements) {
      if (statement.word != word) continue;
      if (statement.once) {
        if (auto first = once(std::string(word)); !first) return first;
      }
      if (auto done = (this->*statement.parse)(); !done) return done;
      if (rest_.empty()) return {};
      return wrong(fmt::format("'{}' is more than '{}' takes", rest_.front(), word),
                   fmt::format("The form is: {}", statement.form));
    }
    std::string known;
    for (const Statement& statement : kStatements) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", statement.word);
    }
    return wrong(fmt::format("'{}' is not a setting", word),
                 fmt::format("A line begins with one of: {}", known));
  }

 private:
  struct Statement {
    std::string_view word;
    std::string_view form;
    Parsed<void> (LineParser::*parse)();
    bool once = false;  ///< A second line would replace the first one.
  };
  static const std::array<Statement, 34> kStatements;

  // Refuses a second line, which would silently replace the first one.
  Parsed<void> once(std::string setting) {
    const auto [place, first] = places_.try_emplace(std::move(setting), line_);
    if (first) return {};
    return wrong(fmt::format("line {} has '{}' already", place->second, place->first),
                 "Keep one of the lines");
  }

  // --- Words. ---
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view peek() const { return rest_.empty() ? "" : rest_.front(); }
  std::string_view take() {
    if (rest_.empty()) return "";
    const std::string_view word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  bool take_if(std::string_view word) {
    if (peek() != word || word.empty()) return false;
    take();
    return true;
  }

  Parsed<std::uint64_t> number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    const std::string_view word = take();
    const auto value = parse_number(word);
    const std::string range =
        fmt::format("{} to {} is accepted, decimal or hexadecimal after 0x", least, most);
    if (!value)
      return wrong(fmt::format("'{}' is not a number; the {} must be one", word, what), range);
    if (*value < least || *value > most) {
      return wrong(fmt::format("{} is out of range for the {}", word, what), range);
    }
    return *value;
  }

  // SYMBOL, SYMBOL+OFFSET or a number.
  Parsed<Symbol> place(std::string_view word) {
    if (const auto value = parse_number(word)) return Symbol{*value, 0};
    const std::size_t plus = word.rfind('+');
    std::uint64_t offset = 0;
    std::string_view name = word;
    if (plus != std::string_view::npos) {
      if (const auto value = parse_number(word.substr(plus + 1))) {
        offset = *value;
        name = word.substr(0, plus);
      }
    }
    if (name.empty()) return wrong("an address is missing", "A number or a symbol is accepted");
    if (!symbols_) {
      return wrong(fmt::format("'{}' is not a number", word),
                   "Give the program with --elf, so that symbols are known");
    }
    const auto symbol = symbols_(name);
    if (!symbol) return wrong(fmt::format("'{}' is not known", name), symbol.error().detail);
    if (symbol->address + offset < symbol->address) {
      return wrong(fmt::format("'{}' is beyond the last address", word),
                   fmt::format("'{}' is at 0x{:x}", name, symbol->address));
    }
    return Symbol{symbol->address + offset, offset == 0 ? symbol->size : 0};
  }

  Parsed<Match> address() {
    WAYMARK_PLAN_TRY(at, place(take()));
    Match match;
    match.first = match.last = at.address;
    if (auto done = qualifiers(match); !done) return std::unexpected(done.error());
    return match;
  }

  // Where the size begins: after a slash, or after a plus sign that is not that of SYMBOL+OFFSET.
  static std::size_t size_mark(std::string_view word) {
    if (const std::size_t slash = word.find('/'); slash != std::string_view::npos) return slash;
    const std::size_t plus = word.rfind('+');
    if (plus == std::string_view::npos) return plus;
    const std::string_view start = word.substr(0, plus);
    const bool sized = parse_number(start) || start.find('+') != std::string_view::npos;
    return sized ? plus : std::string_view::npos;
  }

  Parsed<Match> range() {
    constexpr std::string_view kForms =
        "Accepted: START..END (without END), START+SIZE, START/SIZE, a symbol that has a size, or "
        "all";
    const std::string_view word = take();
    Match match;
    if (word == "all") {
      match.last = ~std::uint64_t{0};
    } else if (const std::size_t dots = word.find(".."); dots != std::string_view::npos) {
      WAYMARK_PLAN_TRY(first, place(word.substr(0, dots)));
      WAYMARK_PLAN_TRY(end, place(word.substr(dots + 2)));
      if (end.address <= first.address) {
        return wrong(fmt::format("'{}' is empty: 0x{:x} is not below 0x{:x}", word, first.address,
                                 end.address),
                     std::string(kForms));
      }
      match.first = first.address;
      match.last = end.address - 1;
    } else if (const std::size_t mark = size_mark(word); mark != std::string_view::npos) {
      WAYMARK_PLAN_TRY(first, place(word.substr(0, mark)));
      const auto size = parse_number(word.substr(mark + 1));
      if (!size || *size == 0) {
        return wrong(fmt::format("'{}' has no size", word), std::string(kForms));
      }
      match.first = first.address;
      match.last = first.address + (*size - 1);
    } else {
      if (word.empty()) return wrong("a range is missing", std::string(kForms));
      WAYMARK_PLAN_TRY(symbol, place(word));
      if (symbol.size == 0) {
        return wrong(fmt::format("'{}' is one address and not a range", word), std::string(kForms));
      }
      match.first = symbol.address;
      match.last = symbol.address + (symbol.size - 1);
    }
    if (match.first > match.last) {
      return wrong(fmt::format("'{}' ends before it begins", word), std::string(kForms));
    }
    if (auto done = qualifiers(match); !done) return std::unexpected(done.error());
    return match;
  }

  Parsed<ContextMatch> context() {
    const std::string_view word = take();
    const std::size_t slash = word.find('/');
    const auto value = parse_number(word.substr(0, slash));
    std::optional<std::uint64_t> ignored = 0;
    if (slash != std::string_view::npos) ignored = parse_number(word.substr(slash + 1));
    if (!value || !ignored || *ignored > 0xFF) {
      return wrong(fmt::format("'{}' is not a context value", word),
                   "Accepted: VALUE, or VALUE/MASK with a bit in MASK for each byte to ignore");
    }
    ContextMatch match{*value, static_cast<std::uint8_t>(*ignored)};
    for (unsigned byte = 0; byte < 8; ++byte) {
      if ((match.ignored >> byte & 1) != 0) match.value &= ~(std::uint64_t{0xFF} << (8 * byte));
    }
    return match;
  }

  // [context-id VALUE[/MASK]] [vmid VALUE[/MASK]] [at LEVEL[+LEVEL]]
  Parsed<void> qualifiers(Match& match) {
    for (;;) {
      if (!empty() &&
          ((peek() == "context-id" && match.context_id) || (peek() == "vmid" && match.vmid) ||
           (peek() == "at" && match.no_levels != 0))) {
        return wrong(fmt::format("'{}' is given twice", peek()), "Keep one of them");
      }
      if (take_if("context-id")) {
        WAYMARK_PLAN_TRY(value, context());
        match.context_id = value;
      } else if (take_if("vmid")) {
        WAYMARK_PLAN_TRY(value, context());
        match.vmid = value;
      } else if (take_if("at")) {
        WAYMARK_PLAN_TRY(levels, level_set(take(), '+'));
        match.no_levels = static_cast<std::uint8_t>(~levels & kAllLevels);
      } else {
        return {};
      }
    }
  }

  static Parsed<std::uint8_t> level_set(std::string_view text, char separator) {
    if (text == "none") return 0;
    std::uint8_t levels = 0;
    if (text.ends_with(separator)) {
      return wrong(fmt::format("'{}' is incomplete", text),
                   fmt::format("Accepted: {}", fmt::join(kLevelNames, ", ")));
    }
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(separator), text.size());
      const std::string_view name = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const auto* const at = std::ranges::find(kLevelNames, name);
      if (at == kLevelNames.end()) {
        return wrong(fmt::format("'{}' is not an exception level", name),
                     fmt::format("Accepted: {}", fmt::join(kLevelNames, ", ")));
      }
      levels = static_cast<std::uint8_t>(levels | 1U << (at - kLevelNames.begin()));
    }
    if (levels == 0) {
      return wrong("no exception level is named",
                   fmt::format("Accepted: {}", fmt::join(kLevelNames, ", ")));
    }
    return levels;
  }

  // --- Events. ---
  struct ResourceRow {
    std::string_view word;
    ResourceKind kind;
    unsigned most;
  };
  static constexpr std::array<ResourceRow, 9> kResources = {{
      {"external", ResourceKind::kExternal, 255},
      {"pe-input", ResourceKind::kPeInput, 7},
      {"counter", ResourceKind::kCounter, 3},
      {"sequencer", ResourceKind::kSequencer, 3},
      {"single-shot", ResourceKind::kSingleShot, 7},
      {"address", ResourceKind::kAddress, 0},
      {"range", ResourceKind::kRange, 0},
      {"context-id", ResourceKind::kContextId, 0},
      {"vmid", ResourceKind::kVmid, 0},
  }};

  Parsed<Resource> resource() {
    const std::string_view word = take();
    const auto* const row = std::ranges::find(kResources, word, &ResourceRow::word);
    if (row == kResources.end()) {
      std::string known;
      for (const ResourceRow& item : kResources) known += fmt::format(", {}", item.word);
      return wrong(fmt::format("'{}' is not a resource of an event", word),
                   fmt::format("Accepted: never, always{}; `not` may come before one, and `,`, "
                               "`and` or `or` between two",
                               known));
    }
    Resource found{row->kind, 0, {}};
    switch (row->kind) {
      case ResourceKind::kAddress: {
        WAYMARK_PLAN_TRY(match, address());
        found.match = match;
        break;
      }
      case ResourceKind::kRange: {
        WAYMARK_PLAN_TRY(match, range());
        found.match = match;
        break;
      }
      case ResourceKind::kContextId: {
        WAYMARK_PLAN_TRY(value, context());
        found.match.context_id = value;
        break;
      }
      case ResourceKind::kVmid: {
        WAYMARK_PLAN_TRY(value, context());
        found.match.vmid = value;
        break;
      }
      default: {
        WAYMARK_PLAN_TRY(value, number(word, 0, row->most));
        found.number = static_cast<unsigned>(value);
        break;
      }
    }
    return found;
  }

  // Counters and sequencer states share a group.
  static unsigned group_of(ResourceKind kind) {
    return kind == ResourceKind::kSequencer ? static_cast<unsigned>(ResourceKind::kCounter)
                                            : static_cast<unsigned>(kind);
  }

  Parsed<Term> term() {
    Term found;
    found.inverted = take_if("not");
    do {
      WAYMARK_PLAN_TRY(next, resource());
      if (!found.any.empty() && group_of(next.kind) != group_of(found.any.front().kind)) {
        return wrong("a selector takes resources of one kind only",
                     "Join different kinds with `and` or `or`; counters and sequencer states are "
                     "of one kind");
      }
      if (std::ranges::find(found.any, next) != found.any.end()) continue;
      if (found.any.size() == kMostOfOneKind) return too_many();
      found.any.push_back(next);
    } while (take_if(","));
    return found;
  }

  Parsed<Event> event() {
    Event found;
    if (take_if("never")) return found;
    if (take_if("always")) {
      found.kind = EventKind::kAlways;
      return found;
    }
    WAYMARK_PLAN_TRY(a, term());
    found.kind = EventKind::kTerm;
    found.a = std::move(a);
    if (peek() != "and" && peek() != "or") return found;
    found.kind = take() == "and" ? EventKind::kAnd : EventKind::kOr;
    WAYMARK_PLAN_TRY(b, term());
    found.b = std::move(b);
    if (peek() == "and" || peek() == "or") {
      return wrong("an event joins two terms at most",
                   "Put resources of one kind into one term with commas, or chain through a "
                   "sequencer state");
    }
    return found;
  }
  Parsed<PlanEvent> plan_event() {
    WAYMARK_PLAN_TRY(found, event());
    return PlanEvent{std::move(found), line_};
  }

  // --- Statements. ---
  Parsed<void> flag(Setting<bool>& setting) {
    setting = {true, line_};
    return {};
  }
  template <class T>
  Parsed<void> choice(Setting<T>& setting,
                      std::initializer_list<std::pair<std::string_view, T>> choices) {
    const std::string_view word = take();
    std::string known;
    for (const auto& [name, value] : choices) {
      if (name == word) {
        setting = {value, line_};
        return {};
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
    }
    return wrong(fmt::format("'{}' is not accepted here", word),
                 fmt::format("Accepted: {}", known));
  }
  Parsed<void> input_bit(Setting<std::uint32_t>& setting) {
    WAYMARK_PLAN_TRY(input, number("PE comparator input", 0, 7));
    setting = {(setting ? setting->value : 0) | 1U << input, line_};
    return {};
  }

  Parsed<void> add_range(std::vector<PlanRange>& ranges, bool exclude) {
    WAYMARK_PLAN_TRY(match, range());
    if (ranges.size() >= kMostItems) return too_many();
    ranges.push_back({match, exclude, line_});
    return {};
  }
  Parsed<void> add_point(bool stop) {
    WAYMARK_PLAN_TRY(match, address());
    if (plan_.points.size() >= kMostItems) return too_many();
    plan_.points.push_back({match, stop, line_});
    return {};
  }
  static std::unexpected<Wrong> too_many() {
    return wrong("there are too many items of this kind", "No unit has more than 16 comparators");
  }

  Parsed<void> include() { return add_range(plan_.ranges, false); }
  Parsed<void> exclude() { return add_range(plan_.ranges, true); }
  Parsed<void> start() { return add_point(false); }
  Parsed<void> stop() { return add_point(true); }
  Parsed<void> start_input() { return input_bit(plan_.start_inputs); }
  Parsed<void> stop_input() { return input_bit(plan_.stop_inputs); }
  Parsed<void> begin() {
    return choice(plan_.begin_started, {{"started", true}, {"stopped", false}});
  }
  Parsed<void> levels() {
    std::uint8_t all = 0;
    do {
      WAYMARK_PLAN_TRY(one, level_set(take(), '+'));
      all = static_cast<std::uint8_t>(all | one);
    } while (!empty());
    plan_.levels = {all, line_};
    return {};
  }
  Parsed<void> when() {
    WAYMARK_PLAN_TRY(found, plan_event());
    plan_.when = std::move(found);
    return {};
  }
  Parsed<void> trace_context_id() { return flag(plan_.trace_context_id); }
  Parsed<void> trace_vmid() {
    plan_.trace_vmid = {take_if("contextidr-el2"), line_};
    return {};
  }
  Parsed<void> cycles() {
    std::uint64_t threshold = 0;
    if (!empty()) {
      WAYMARK_PLAN_TRY(given, number("cycle threshold", 1, 0xFFF));
      threshold = given;
    }
    plan_.cycles = {static_cast<std::uint32_t>(threshold), line_};
    return {};
  }
  Parsed<void> timestamps() {
    if (empty()) {
      plan_.timestamps = PlanEvent{{}, line_};
      return {};
    }
    WAYMARK_PLAN_TRY(found, plan_event());
    plan_.timestamps = std::move(found);
    return {};
  }
  Parsed<void> branch_broadcast() {
    const std::string_view word = take();
    BroadcastKind kind = BroadcastKind::kNone;
    if (word == "everywhere") kind = BroadcastKind::kEverywhere;
    if (word == "inside") kind = BroadcastKind::kInside;
    if (word == "outside") kind = BroadcastKind::kOutside;
    if (kind == BroadcastKind::kNone) {
      return wrong(fmt::format("'{}' is not accepted here", word),
                   "Accepted: everywhere, inside RANGE, outside RANGE");
    }
    if (plan_.broadcast != BroadcastKind::kNone && plan_.broadcast != kind) {
      return wrong(fmt::format("line {} contradicts this setting", plan_.broadcast_line),
                   "A unit broadcasts everywhere, inside ranges or outside ranges");
    }
    plan_.broadcast = kind;
    plan_.broadcast_line = line_;
    if (kind == BroadcastKind::kEverywhere) return {};
    return add_range(plan_.broadcast_ranges, false);
  }
  Parsed<void> return_stack() { return flag(plan_.return_stack); }
  Parsed<void> q_elements() {
    return choice<std::uint8_t>(plan_.q_elements, {{"counted", 1}, {"all", 3}});
  }
  Parsed<void> conditional() {
    return choice<std::uint8_t>(plan_.conditional,
                                {{"loads", 1}, {"stores", 2}, {"loads-stores", 3}, {"all", 7}});
  }
  Parsed<void> p0() {
    return choice<std::uint8_t>(plan_.p0, {{"loads", 1}, {"stores", 2}, {"loads-stores", 3}});
  }
  Parsed<void> stall() {
    std::uint64_t level = 0;
    if (take_if("level")) {
      WAYMARK_PLAN_TRY(given, number("stall level", 0, 15));
      level = given;
    }
    plan_.stall = {static_cast<std::uint8_t>(level), line_};
    return {};
  }
  Parsed<void> stall_priority() { return flag(plan_.stall_priority); }
  Parsed<void> no_overflow() { return flag(plan_.no_overflow); }
  Parsed<void> trace_reset() { return flag(plan_.trace_reset); }
  Parsed<void> trace_error() { return flag(plan_.trace_error); }
  Parsed<void> atb_trigger() { return flag(plan_.atb_trigger); }
  Parsed<void> low_power_override() { return flag(plan_.low_power_override); }
  Parsed<void> sync() {
    if (take_if("never")) {
      plan_.sync = {0, line_};
      return {};
    }
    WAYMARK_PLAN_TRY(bytes, number("synchronisation period in bytes", 256, 1U << 20));
    if (!std::has_single_bit(bytes)) {
      return wrong(
          fmt::format("a period of {} bytes is not a power of two", bytes),
          fmt::format("{} or {} is accepted", std::bit_floor(bytes), std::bit_ceil(bytes)));
    }
    plan_.sync = {static_cast<std::uint8_t>(std::countr_zero(bytes)), line_};
    return {};
  }
  Parsed<void> add_event(bool in_trace) {
    WAYMARK_PLAN_TRY(n, number("event number", 0, 3));
    WAYMARK_PLAN_TRY(found, plan_event());
    if (const auto& other = plan_.events[n]) {
      return wrong(fmt::format("line {} has event {} already", other->line, n),
                   "Choose another number");
    }
    plan_.events[n] = std::move(found);
    if (in_trace) plan_.events_in_trace |= 1U << n;
    return {};
  }
  Parsed<void> event_in_trace() { return add_event(true); }
  Parsed<void> event_output() { return add_event(false); }
  Parsed<void> counter() {
    WAYMARK_PLAN_TRY(n, number("counter", 0, kCounters - 1));
    PlanCounter& counter = plan_.counters[n];
    if (counter.line == 0) counter.line = line_;
    const std::string_view word = take();
    if (auto first = once(fmt::format("counter {} {}", n, word)); !first) return first;
    if (word == "value" || word == "reload") {
      WAYMARK_PLAN_TRY(value, number("counter value", 0, 0xFFFF));
      (word == "value" ? counter.value : counter.reload) = static_cast<std::uint32_t>(value);
    } else if (word == "self-reload") {
      counter.self_reload = true;
    } else if (word == "chain") {
      counter.chain = true;
    } else if (word == "count" || word == "reload-on") {
      WAYMARK_PLAN_TRY(found, event());
      (word == "count" ? counter.count : counter.reload_on) = std::move(found);
    } else {
      return wrong(fmt::format("'{}' is not a setting of a counter", word),
                   "Accepted: value N, reload N, self-reload, chain, count EVENT, reload-on EVENT");
    }
    return {};
  }
  Parsed<void> sequencer() {
    if (take_if("reset")) {
      if (auto first = once("sequencer reset"); !first) return first;
      WAYMARK_PLAN_TRY(found, plan_event());
      plan_.sequencer_reset = std::move(found);
      return {};
    }
    if (take_if("state")) {
      if (auto first = once("sequencer state"); !first) return first;
      WAYMARK_PLAN_TRY(state, number("sequencer state", 0, 3));
      plan_.sequencer_state = {static_cast<std::uint8_t>(state), line_};
      return {};
    }
    WAYMARK_PLAN_TRY(n, number("sequencer transition", 0, kSequencerEvents - 1));
    const std::string_view word = take();
    if (word != "forward" && word != "back") {
      return wrong(fmt::format("'{}' is not a setting of a sequencer", word),
                   "Accepted: N forward EVENT, N back EVENT, reset EVENT, state N; N is 0 for the "
                   "states 0 and 1");
    }
    if (auto first = once(fmt::format("sequencer {} {}", n, word)); !first) return first;
    WAYMARK_PLAN_TRY(found, plan_event());
    (word == "forward" ? plan_.forward : plan_.back)[n] = std::move(found);
    return {};
  }
  Parsed<void> single_shot() {
    WAYMARK_PLAN_TRY(n, number("single-shot control", 0, kSingleShots - 1));
    PlanShot& shot = plan_.shots[n];
    if (shot.line == 0) shot.line = line_;
    const std::string_view word = take();
    if (shot.addresses.size() + shot.ranges.size() >= kMostItems) return too_many();
    if (word == "address") {
      WAYMARK_PLAN_TRY(match, address());
      shot.addresses.push_back(match);
    } else if (word == "range") {
      WAYMARK_PLAN_TRY(match, range());
      shot.ranges.push_back(match);
    } else if (word == "pe-input") {
      WAYMARK_PLAN_TRY(input, number("PE comparator input", 0, 7));
      shot.pe_inputs |= 1U << input;
    } else if (word == "repeat") {
      shot.repeat = true;
    } else {
      return wrong(fmt::format("'{}' is not a setting of a single-shot control", word),
                   "Accepted: address ADDRESS, range RANGE, pe-input N, repeat");
    }
    return {};
  }
  Parsed<void> strobe() {
    PlanStrobe found{0, 0, line_};
    while (!empty()) {
      const std::string_view word = take();
      if (word != "window" && word != "period") {
        return wrong(fmt::format("'{}' is not a setting of strobing", word),
                     "Accepted: window N period N");
      }
      WAYMARK_PLAN_TRY(value, number(word, 1, 0xFFFF));
      if ((word == "window" ? found.window : found.period) != 0) {
        return wrong(fmt::format("'{}' is given twice", word), "Accepted: window N period N");
      }
      (word == "window" ? found.window : found.period) = static_cast<std::uint32_t>(value);
    }
    if (found.window == 0 || found.period == 0) {
      return wrong("strobing needs a window (cycles) and a period (windows)",
                   "Accepted: window N period N");
    }
    plan_.strobe = found;
    return {};
  }
  Parsed<void> pe() {
    WAYMARK_PLAN_TRY(value, number("PE", 0, 31));
    plan_.pe = {static_cast<std::uint32_t>(value), line_};
    return {};
  }
  Parsed<void> sink() {
    PlanSink found{std::string(take()), 0, line_};
    // The name becomes part of paths and of a script.
    const auto plain = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '_' || c == '-' || c == '.';
    };
    if (found.name.empty() || found.name.starts_with('.') ||
        !std::ranges::all_of(found.name, plain)) {
      return wrong(fmt::format("'{}' is not a device name", found.name),
                   "A name of letters, digits, `_`, `-` and `.` is accepted, such as tmc_etr0");
    }
    if (take_if("buffer")) {
      constexpr std::uint64_t kPage = 4096;
      WAYMARK_PLAN_TRY(bytes, number("buffer size in bytes", kPage, std::uint64_t{1} << 40));
      if (bytes % kPage != 0) {
        const std::uint64_t below = bytes / kPage * kPage;
        return wrong(fmt::format("a buffer of {} bytes is not made of whole pages", bytes),
                     fmt::format("{} or {} is accepted", below, below + kPage));
      }
      found.buffer = bytes;
    }
    if (plan_.sinks.size() >= kMostItems) return too_many();
    plan_.sinks.push_back(std::move(found));
    return {};
  }

  std::span<const std::string_view> rest_;
  std::uint32_t line_;
  Plan& plan_;
  Places& places_;
  const SymbolResolver& symbols_;
};

using L = LineParser;

}  // namespace

// clang-format off
const std::array<LineParser::Statement, 34> LineParser::kStatements = {{
    {"include", "include RANGE [QUALIFIERS]", &L::include},
    {"exclude", "exclude RANGE [QUALIFIERS]", &L::exclude},
    {"start", "start ADDRESS [QUALIFIERS]", &L::start},
    {"stop", "stop ADDRESS [QUALIFIERS]", &L::stop},
    {"start-input", "start-input N", &L::start_input},
    {"stop-input", "stop-input N", &L::stop_input},
    {"begin", "begin started|stopped", &L::begin, true},
    {"levels", "levels LEVEL...", &L::levels, true},
    {"when", "when EVENT", &L::when, true},
    {"trace-context-id", "trace-context-id", &L::trace_context_id, true},
    {"trace-vmid", "trace-vmid [contextidr-el2]", &L::trace_vmid, true},
    {"cycles", "cycles [THRESHOLD]", &L::cycles, true},
    {"timestamps", "timestamps [EVENT]", &L::timestamps, true},
    {"branch-broadcast", "branch-broadcast everywhere|inside RANGE|outside RANGE", &L::branch_broadcast},
    {"return-stack", "return-stack", &L::return_stack, true},
    {"q-elements", "q-elements counted|all", &L::q_elements, true},
    {"conditional", "conditional loads|stores|loads-stores|all", &L::conditional, true},
    {"p0", "p0 loads|stores|loads-stores", &L::p0, true},
    {"stall", "stall [level N]", &L::stall, true},
    {"stall-priority", "stall-priority", &L::stall_priority, true},
    {"no-overflow", "no-overflow", &L::no_overflow, true},
    {"trace-reset", "trace-reset", &L::trace_reset, true},
    {"trace-error", "trace-error", &L::trace_error, true},
    {"atb-trigger", "atb-trigger", &L::atb_trigger, true},
    {"low-power-override", "low-power-override", &L::low_power_override, true},
    {"sync", "sync BYTES|never", &L::sync, true},
    {"event", "event N EVENT", &L::event_in_trace},
    {"event-output", "event-output N EVENT", &L::event_output},
    {"counter", "counter N value N|reload N|self-reload|chain|count EVENT|reload-on EVENT", &L::counter},
    {"sequencer", "sequencer N forward EVENT|N back EVENT|reset EVENT|state N", &L::sequencer},
    {"single-shot", "single-shot N address ADDRESS|range RANGE|pe-input N|repeat", &L::single_shot},
    {"strobe", "strobe window N period N", &L::strobe, true},
    {"pe", "pe N", &L::pe, true},
    {"sink", "sink NAME [buffer BYTES]", &L::sink},
}};
// clang-format on

std::string PlanProblem::text() const {
  const std::string place = line == 0 ? "" : fmt::format("line {}: ", line);
  return fmt::format("{}{}. {}.", place, rule, remedy);
}

std::optional<Plan> parse_plan(std::string_view text, const SymbolResolver& symbols,
                               std::vector<PlanProblem>& problems) {
  Plan plan;
  std::uint32_t line = 0;
  bool headed = false;
  LineParser::Places places;
  const std::size_t before = problems.size();
  while (!text.empty() && problems.size() - before < kMostProblems) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const auto words = words_of(row);
    if (words.empty()) continue;
    if (!headed) {
      if (words.size() != 2 || words[0] != "etm4-plan" || words[1] != "1") {
        problems.push_back({line, "the file does not begin as a plan",
                            fmt::format("The first line is: {}", kPlanHeading)});
        return std::nullopt;
      }
      headed = true;
      continue;
    }
    if (auto done = LineParser(words, line, plan, places, symbols).parse(); !done) {
      problems.push_back({line, done.error().rule, done.error().remedy});
    }
  }
  if (!headed && problems.size() == before) {
    problems.push_back(
        {1, "the file is empty", fmt::format("The first line is: {}", kPlanHeading)});
  }
  if (problems.size() != before) return std::nullopt;
  return plan;
}

}  // namespace waymark::etm4x
