// The words of one line of a plan, and what several statements are made of: numbers, places,
// ranges, contexts, events.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {

/// A refusal, without its line.
struct Wrong {
  std::string rule;
  std::string remedy;
};
template <class T>
using Parsed = std::expected<T, Wrong>;

std::unexpected<Wrong> wrong(std::string rule, std::string remedy);
std::unexpected<Wrong> too_many();

// NOLINTBEGIN(bugprone-macro-parentheses): `name` becomes a variable.
#define WAYMARK_PLAN_TRY(name, expression)                           \
  auto name##_parsed = (expression);                                 \
  if (!name##_parsed) return std::unexpected(name##_parsed.error()); \
  auto name = std::move(*name##_parsed)
// NOLINTEND(bugprone-macro-parentheses)

/// The words of a line without its comment; a comma is a separate word.
std::vector<std::string_view> words_of(std::string_view line);

/// Reads the words from left to right.
class PlanWords {
 public:
  /// The lines of the settings so far.
  using Places = std::map<std::string, std::uint32_t, std::less<>>;

  PlanWords(std::span<const std::string_view> words, std::uint32_t line, Places& places,
            const SymbolResolver& symbols)
      : rest_(words), line_(line), places_(places), symbols_(symbols) {}

  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view peek() const { return rest_.empty() ? "" : rest_.front(); }
  std::string_view take();
  bool take_if(std::string_view word);

  /// Refuses a second line of a setting, which would silently replace the first one.
  Parsed<void> once(std::string setting);

  Parsed<std::uint64_t> number(std::string_view what, std::uint64_t least, std::uint64_t most);
  /// The same for a size, such as 4096 or 64K.
  Parsed<std::uint64_t> size(std::string_view what, std::uint64_t least, std::uint64_t most);
  Parsed<Match> address();
  Parsed<Match> range();
  /// Levels with `separator` between, as in Plan::levels.
  static Parsed<std::uint8_t> level_set(std::string_view text, char separator);
  Parsed<Event> event();
  Parsed<PlanEvent> plan_event();

 private:
  Parsed<Symbol> place(std::string_view word);
  Parsed<ContextMatch> context();
  Parsed<void> qualifiers(Match& match);
  Parsed<Resource> resource();
  Parsed<Term> term();

  std::span<const std::string_view> rest_;
  std::uint32_t line_;
  Places& places_;
  const SymbolResolver& symbols_;
};

}  // namespace waymark::etm4x
