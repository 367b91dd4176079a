#include "find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "element_words.h"
#include "function_at.h"
#include "line_runs.h"
#include "range_walk.h"
#include "stack_watch.h"
#include "waymark/base/cut_text.h"
#include "waymark/base/escape.h"
#include "waymark/base/number.h"
#include "waymark/outputs/function_query.h"
#include "window_cut.h"

namespace waymark::view {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_in_any_case(std::string_view text, std::string_view part) {
  return part.empty() || !std::ranges::search(text, part, {}, lower, lower).empty();
}

std::unexpected<Error> bad_query(const Query& query, std::string_view expected) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected {}.", escaped(cut_text(query.text, 100)), expected));
}

/// A number with or without "0x".
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The object of a search.
struct Wanted {
  FindWhat what = FindWhat::kFunction;
  std::string text{};
  std::uint64_t value = 0;  ///< The address, the line, the number of the exception.
  bool has_value = false;
};

Result<Wanted> read_query(const Query& query) {
  Wanted wanted{.what = query.what, .text = query.text};
  if (query.text.empty()) return bad_query(query, "what to look for");
  switch (query.what) {
    case FindWhat::kAddress: {
      const auto address = parse_address(query.text);
      if (!address) return bad_query(query, "an address such as 0x8000");
      wanted.value = *address;
      break;
    }
    case FindWhat::kLine: {
      const std::size_t colon = query.text.rfind(':');
      const auto number = colon == std::string::npos || colon == 0
                              ? std::nullopt
                              : parse_number(std::string_view(query.text).substr(colon + 1));
      if (!number || *number == 0) return bad_query(query, "a file and a line, such as main.c:42");
      wanted.value = *number;
      wanted.text = query.text.substr(0, colon);
      break;
    }
    case FindWhat::kException:
      if (const auto number = parse_number(query.text)) {
        wanted.value = *number;
        wanted.has_value = true;
      }
      break;
    case FindWhat::kFunction:
    case FindWhat::kText:
    case FindWhat::kTime:
      break;
  }
  return wanted;
}

/// A hit whose place on the axis is not known yet.
struct Found {
  Instant instant{};
  TrackNumber track = 0;
  std::string text{};
};

/// How far a search came, by source.
class Reach {
 public:
  void note(TraceId source, std::uint64_t n) {
    reached_[source] = n;
    last_source_ = source;
  }

  /// Everything between `from` and this place was searched.
  [[nodiscard]] double searched_to(Replay& replay, const AxisEdge& begin, double from) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < kTraceIdCount; ++id) {
      if (reached_[id] == 0 || reached_[id] <= begin.first[id]) continue;
      least = std::min(least, replay.axis(static_cast<TraceId>(id), reached_[id]));
    }
    if (std::isfinite(least) && least > from) return least;
    const std::uint64_t last = reached_[last_source_];
    return last == 0 ? from : std::max(from, replay.axis(last_source_, last));
  }

 private:
  std::array<std::uint64_t, kTraceIdCount> reached_{};  ///< The instructions before this place.
  TraceId last_source_ = 0;
};

/// The functions whose names have the text that is looked for.
class WantedFunctions {
 public:
  WantedFunctions(const Wanted& wanted, FunctionTable& functions)
      : wanted_(wanted), query_(wanted.text), functions_(functions), numbers_(functions) {}

  /// The name of a function; empty: it is not looked for.
  const std::string& name(const stacks::Tree& tree, stacks::CodeId code) {
    const FunctionNumber number = numbers_.number(tree, code);
    const auto [known, added] = names_.try_emplace(number);
    if (!added) return known->second;
    const FunctionName name = functions_.name(number);
    const bool is_function =
        name.kind == stacks::CodeKind::kFunction || name.kind == stacks::CodeKind::kAddress;
    if (is_function &&
        (contains_in_any_case(name.name, wanted_.text) || names_exactly(functions_.code(number))))
      known->second = name.name;
    return known->second;
  }

 private:
  /// The linker's name, PROGRAM:NAME, or the name of a part of the function.
  [[nodiscard]] bool names_exactly(const stacks::Code& code) const {
    if (query_.form(code.program, code.name) != outputs::NameForm::kNone) return true;
    return program::parent_name(wanted_.text) == code.name;
  }

  const Wanted& wanted_;
  outputs::FunctionQuery query_;
  FunctionTable& functions_;
  FunctionNumbers numbers_;
  std::unordered_map<FunctionNumber, std::string> names_;
};

/// Where execution comes to the source line that is looked for.
class WantedLines {
 public:
  WantedLines(const Wanted& wanted, const program::PlaceLookup& places, RangeWalk& walk)
      : wanted_(wanted), lines_(places, walk) {}

  /// Calls `found` with the number of an instruction of the range and the line that begins there.
  void pass(const Element& range,
            const std::function<void(std::uint64_t first, const LineRuns::Line& line)>& found) {
    LineId& last = last_[range.trace_id];
    for (const LineRun& run : lines_.of(range)) {
      if (run.line == kNoLine || run.line == std::exchange(last, run.line)) continue;
      if (is_wanted(run.line)) found(run.first, lines_.line(run.line));
    }
  }

 private:
  bool is_wanted(LineId id) {
    if (is_wanted_.size() <= id) is_wanted_.resize(id + std::size_t{1});
    std::optional<bool>& known = is_wanted_[id];
    if (known) return *known;
    const LineRuns::Line& line = lines_.line(id);
    const std::string_view file = line.file;
    const bool same_file = file.ends_with(wanted_.text) &&
                           (file.size() == wanted_.text.size() || wanted_.text.front() == '/' ||
                            file[file.size() - wanted_.text.size() - 1] == '/');
    known = same_file && line.number == wanted_.value;
    return *known;
  }

  const Wanted& wanted_;
  LineRuns lines_;
  std::array<LineId, kTraceIdCount> last_{};
  std::vector<std::optional<bool>> is_wanted_;  ///< By LineId; nothing: not asked yet.
};

/// Searches what a replay gives.
class Search {
 public:
  Search(Replay& replay, const Wanted& wanted, const Knowledge& knowledge, const AxisEdge& begin,
         std::uint32_t limit)
      : replay_(replay),
        wanted_(wanted),
        knowledge_(knowledge),
        begin_(begin),
        limit_(limit),
        run_(replay),
        places_(knowledge.places),
        walk_(knowledge.read),
        functions_(wanted, *knowledge.functions),
        lines_(wanted, knowledge.places, walk_) {}

  Result<void> run(double from, double to, const Stop& stop) {
    if (wanted_.what == FindWhat::kFunction) {
      run_.watch().on_entered = [this](stacks::TrackId track, std::uint64_t position,
                                       stacks::CodeId code, stacks::Opening opening) {
        if (opening != stacks::Opening::kResumed) enter(track, position, code);
      };
    }
    return run_.run(
        {.from = from, .from_instant = {}, .to = to, .sink = nullptr},
        [this](const Element& element, std::uint64_t n) { return pass(element, n); }, stop);
  }

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::vector<Found>& found() { return found_; }

  /// Everything before this place was searched, if the search is not complete.
  [[nodiscard]] double searched_to(double from) const {
    return reach_.searched_to(replay_, begin_, from);
  }

 private:
  bool pass(const Element& element, std::uint64_t n) {
    if (element.trace_id < kTraceIdCount) {
      if (is_range(element)) {
        reach_.note(element.trace_id, n + element.count);
        pass_range(element, n);
      } else if (element.kind == ElementKind::kException && wanted_.what == FindWhat::kException) {
        pass_exception(element, n);
      }
    }
    complete_ = found_.size() < limit_ && run_.bytes() <= knowledge_.limits.search_bytes;
    return complete_;
  }

  void add(TraceId source, std::uint64_t n, const std::string& text) {
    if (source >= kTraceIdCount || n < begin_.first[source]) return;
    Found found{.instant = {.source = source, .n = n}, .text = cut_text(text, kLongestHit)};
    if (const StackWatch::Stack* const stack = run_.watch().running(source);
        stack != nullptr && knowledge_.track)
      found.track = knowledge_.track(source, stack->thread);
    found_.push_back(std::move(found));
  }

  void enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code) {
    const std::string& name = functions_.name(replay_.engine().tree(), code);
    if (!name.empty()) add(run_.watch().stack(track).source, position, name);
  }

  void pass_range(const Element& range, std::uint64_t n) {
    if (wanted_.what == FindWhat::kAddress) {
      if (const auto number = number_of(range)) {
        const std::uint64_t address = walk_.address(range, *number);
        add(range.trace_id, n + *number, place_words(range, address));
      }
    } else if (wanted_.what == FindWhat::kLine) {
      lines_.pass(range, [&](std::uint64_t first, const LineRuns::Line& line) {
        add(range.trace_id, n + first, fmt::format("{}:{}", line.file, line.number));
      });
    }
  }

  /// The instruction at the address that is wanted, in memory or in the program.
  std::optional<std::uint32_t> number_of(const Element& range) {
    if (const auto number = walk_.number(range, wanted_.value)) return number;
    if (!places_) return std::nullopt;
    const program::Place place = places_(range, range.start);
    if (place.program == nullptr || place.address == range.start) return std::nullopt;
    return walk_.number(range, wanted_.value - place.address + range.start);
  }

  void pass_exception(const Element& element, std::uint64_t n) {
    std::string name;
    if (knowledge_.exception_name)
      name = knowledge_.exception_name(element.trace_id, element.number);
    const bool same = wanted_.has_value ? element.number == wanted_.value
                                        : contains_in_any_case(name, wanted_.text);
    if (same) add(element.trace_id, n, event_words(element, knowledge_));
  }

  std::string place_words(const Element& range, std::uint64_t address) {
    const FunctionAt at = function_at(knowledge_, places_, range, address);
    std::string words = fmt::format("0x{:x}", address);
    if (!at.known) return words;
    words += " in " + knowledge_.functions->name(at.number).name;
    if (at.offset != 0) words += fmt::format("+0x{:x}", at.offset);
    return words;
  }

  Replay& replay_;
  const Wanted& wanted_;
  const Knowledge& knowledge_;
  const AxisEdge& begin_;
  std::uint32_t limit_;
  SettledRun run_;
  program::PlaceLookup places_;
  RangeWalk walk_;
  WantedFunctions functions_;
  WantedLines lines_;
  Reach reach_;
  bool complete_ = true;
  std::vector<Found> found_;
};

/// Leaves the first `limit` hits.
void keep_first(Hits& hits, std::uint32_t limit) {
  std::ranges::stable_sort(hits.hits, {}, &Hit::at);
  if (hits.hits.size() <= limit) return;
  hits.searched_to = hits.hits[limit].at;
  hits.hits.resize(limit);
  hits.complete = false;
  if (hits.hits.front().at == hits.searched_to) {
    // All of them are at one place; the same query must not find them for ever.
    hits.searched_to = std::nextafter(hits.searched_to, std::numeric_limits<double>::infinity());
    return;
  }
  // The next query finds all that are at this place.
  while (hits.hits.back().at == hits.searched_to) hits.hits.pop_back();
}

Result<Hits> find_messages(const Wanted& wanted, double from, double to, std::uint32_t limit,
                           const Knowledge& knowledge, const Stop& stop) {
  Hits hits{.complete = true, .searched_to = to};
  if (!knowledge.messages) {
    hits.note = "There are no messages in this trace.";
    return hits;
  }
  const auto found = knowledge.messages(from, to, stop);
  if (!found) return std::unexpected(found.error());
  hits.complete = found->complete;
  if (!found->complete) hits.searched_to = found->searched_to;
  for (const MessageAt& message : found->messages) {
    if (!contains_in_any_case(message.text, wanted.text)) continue;
    hits.hits.push_back({.at = message.at,
                         .track = message.track,
                         .instant = {},
                         .text = cut_text(message.text, kLongestHit)});
  }
  keep_first(hits, limit);
  return hits;
}

Result<double> place_of_time(const Query& query, const Axis& axis) {
  constexpr std::string_view kExpected =
      "a place on the axis, or t: followed by a time of the trace";
  if (query.text.starts_with("t:")) {
    const auto raw = parse_number(std::string_view(query.text).substr(2));
    if (!raw) return bad_query(query, kExpected);
    return *raw >= axis.origin ? static_cast<double>(*raw - axis.origin)
                               : -static_cast<double>(axis.origin - *raw);
  }
  const auto at = parse_decimal(query.text);
  if (!at) return bad_query(query, kExpected);
  return *at;
}

Result<Hits> find_time(Replay& replay, const Query& query, const Knowledge& knowledge,
                       const Stop& stop) {
  const Axis axis = knowledge.axis ? knowledge.axis() : Axis{};
  const auto at = place_of_time(query, axis);
  if (!at) return std::unexpected(at.error());
  Hits hits{.complete = true, .searched_to = query.to};
  if (*at < 0 || *at > axis.length) {
    hits.note = "This time is outside the trace read so far.";
    return hits;
  }
  struct Ran {
    std::uint64_t n = 0;
    TrackNumber track = 0;
  };
  std::array<std::vector<Ran>, kTraceIdCount> ran;
  SettledRun run(replay);
  const auto visit = [&](const Element& element, std::uint64_t n) {
    if (!is_range(element) || element.trace_id >= kTraceIdCount) return true;
    const StackWatch::Stack* const stack = run.watch().running(element.trace_id);
    const TrackNumber track =
        stack != nullptr && knowledge.track ? knowledge.track(element.trace_id, stack->thread) : 0;
    std::vector<Ran>& of_source = ran[element.trace_id];
    if (of_source.empty() || of_source.back().track != track) of_source.push_back({n, track});
    return true;
  };
  WAYMARK_TRY(run.run({.from = *at, .from_instant = {}, .to = *at, .sink = nullptr}, visit, stop));
  Hit hit{.at = *at, .text = fmt::format("t:{}", axis.origin + static_cast<std::uint64_t>(*at))};
  for (std::size_t id = 0; id < kTraceIdCount && !hit.instant; ++id) {
    if (ran[id].empty()) continue;
    const auto source = static_cast<TraceId>(id);
    const auto n = replay.last_at(source, *at);
    if (!n || *n < ran[id].front().n) continue;
    hit.instant = Instant{.source = source, .n = *n};
    const auto after = std::ranges::upper_bound(ran[id], *n, {}, &Ran::n);
    hit.track = (after - 1)->track;
  }
  hits.hits.push_back(std::move(hit));
  return hits;
}

}  // namespace

Result<Hits> find_hits(Replay& replay, const Query& query, const Knowledge& knowledge,
                       const Stop& stop) {
  const auto wanted = read_query(query);
  if (!wanted) return std::unexpected(wanted.error());
  if (query.what == FindWhat::kTime) return find_time(replay, query, knowledge, stop);
  const double length = knowledge.axis ? knowledge.axis().length : query.to;
  if (!std::isfinite(query.from) || !std::isfinite(query.to) || query.from > query.to)
    return bad_query(query, "a window that does not end before it begins");
  const double from = std::clamp(query.from, 0.0, length);
  const double to = std::clamp(query.to, 0.0, length);
  const std::uint32_t limit = std::clamp(query.limit, 1U, kMostHits);
  if (query.from > length || query.to < 0) return Hits{.complete = true, .searched_to = query.to};
  if (query.what == FindWhat::kText)
    return find_messages(*wanted, from, to, limit, knowledge, stop);
  auto begin = edge_at(replay, from, stop);
  if (!begin) return std::unexpected(std::move(begin).error());
  if (query.from <= 0) begin->first.fill(0);
  Search search(replay, *wanted, knowledge, *begin, limit);
  WAYMARK_TRY(search.run(from, to, stop));
  Hits hits{.complete = search.complete(), .searched_to = to};
  if (!hits.complete) hits.searched_to = search.searched_to(from);
  if (hits.searched_to > to) hits = {.complete = true, .searched_to = to};
  for (Found& found : search.found()) {
    const double at = replay.axis(found.instant.source, found.instant.n);
    if (hits.complete ? at > to : at >= hits.searched_to) continue;
    hits.hits.push_back(
        {.at = at, .track = found.track, .instant = found.instant, .text = std::move(found.text)});
  }
  keep_first(hits, limit);
  return hits;
}

}  // namespace waymark::view
