#include "plan_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan_grammar.h"
#include "waymark/base/number.h"

namespace waymark::etm4x {
namespace {

constexpr std::size_t kMostOfOneKind = 16;  // A selector has 16 bits for resources.
constexpr std::uint8_t kAllLevels = 0x7F;

// Where the size begins: after a slash, or after a plus sign that is not that of SYMBOL+OFFSET.
std::size_t size_mark(std::string_view word) {
  if (const std::size_t slash = word.find('/'); slash != std::string_view::npos) return slash;
  const std::size_t plus = word.rfind('+');
  if (plus == std::string_view::npos) return plus;
  const std::string_view start = word.substr(0, plus);
  const bool sized = parse_number(start) || start.find('+') != std::string_view::npos;
  return sized ? plus : std::string_view::npos;
}

}  // namespace

std::unexpected<Wrong> wrong(std::string rule, std::string remedy) {
  return std::unexpected(Wrong{std::move(rule), std::move(remedy)});
}

std::unexpected<Wrong> too_many() {
  return wrong("there are too many items of this kind", "No unit has more than 16 comparators");
}

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

Parsed<void> PlanWords::once(std::string setting) {
  const auto [place, first] = places_.try_emplace(std::move(setting), line_);
  if (first) return {};
  return wrong(fmt::format("line {} already has '{}'", place->second, place->first),
               "Keep one of the lines");
}

std::string_view PlanWords::take() {
  if (rest_.empty()) return "";
  const std::string_view word = rest_.front();
  rest_ = rest_.subspan(1);
  return word;
}
bool PlanWords::take_if(std::string_view word) {
  if (peek() != word || word.empty()) return false;
  take();
  return true;
}

namespace {

/// `value`: nothing if the word is not a `kind`.  `such`: the forms that are accepted.
Parsed<std::uint64_t> in_range(std::string_view word, std::optional<std::uint64_t> value,
                               std::string_view kind, std::string_view what, std::uint64_t least,
                               std::uint64_t most, std::string_view such) {
  const std::string range = fmt::format("{} to {} is accepted, {}", least, most, such);
  if (!value)
    return wrong(fmt::format("'{}' is not a {}; the {} must be one", word, kind, what), range);
  if (*value < least || *value > most)
    return wrong(fmt::format("{} is out of range for the {}", word, what), range);
  return *value;
}

}  // namespace

Parsed<std::uint64_t> PlanWords::number(std::string_view what, std::uint64_t least,
                                        std::uint64_t most) {
  const std::string_view word = take();
  return in_range(word, parse_number(word), "number", what, least, most,
                  "decimal or hexadecimal after 0x");
}

Parsed<std::uint64_t> PlanWords::size(std::string_view what, std::uint64_t least,
                                      std::uint64_t most) {
  const std::string_view word = take();
  return in_range(word, parse_size(word), "size", what, least, most,
                  "such as 4096, 0x1000, 64K or 1MiB");
}

// SYMBOL, SYMBOL+OFFSET or a number.
Parsed<Symbol> PlanWords::place(std::string_view word) {
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

Parsed<Match> PlanWords::address() {
  WAYMARK_PLAN_TRY(at, place(take()));
  Match match;
  match.first = match.last = at.address;
  if (auto done = qualifiers(match); !done) return std::unexpected(done.error());
  return match;
}

Parsed<Match> PlanWords::range() {
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
      return wrong(fmt::format("'{}' is a single address, not a range", word), std::string(kForms));
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

Parsed<ContextMatch> PlanWords::context() {
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
Parsed<void> PlanWords::qualifiers(Match& match) {
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

Parsed<std::uint8_t> PlanWords::level_set(std::string_view text, char separator) {
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
Parsed<Resource> PlanWords::resource() {
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
  switch (row->argument) {
    case ResourceArgument::kNumber: {
      WAYMARK_PLAN_TRY(value, number(word, 0, row->most));
      found.number = static_cast<unsigned>(value);
      break;
    }
    case ResourceArgument::kAddress: {
      WAYMARK_PLAN_TRY(match, address());
      found.match = match;
      break;
    }
    case ResourceArgument::kRange: {
      WAYMARK_PLAN_TRY(match, range());
      found.match = match;
      break;
    }
    case ResourceArgument::kContextId: {
      WAYMARK_PLAN_TRY(value, context());
      found.match.context_id = value;
      break;
    }
    case ResourceArgument::kVmid: {
      WAYMARK_PLAN_TRY(value, context());
      found.match.vmid = value;
      break;
    }
  }
  return found;
}

Parsed<Term> PlanWords::term() {
  Term found;
  found.inverted = take_if("not");
  do {
    WAYMARK_PLAN_TRY(next, resource());
    if (!found.any.empty() &&
        resource_row(next.kind).group != resource_row(found.any.front().kind).group) {
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

Parsed<Event> PlanWords::event() {
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
Parsed<PlanEvent> PlanWords::plan_event() {
  WAYMARK_PLAN_TRY(found, event());
  return PlanEvent{std::move(found), line_};
}

}  // namespace waymark::etm4x
