#include "waymark/outputs/function_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"
#include "waymark/diff/programs.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

/// More names than these are not compared with an unknown one, which would take seconds.
constexpr std::size_t kMostCompared = std::size_t{1} << 18;
constexpr std::size_t kMostCandidates = 8;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where the word "operator" of the name of an operator begins; npos: it is none.
std::size_t operator_in(std::string_view name) {
  constexpr std::string_view kWord = "operator";
  for (std::size_t at = name.find(kWord); at != std::string_view::npos;
       at = name.find(kWord, at + 1)) {
    const std::size_t end = at + kWord.size();
    if ((at == 0 || !is_word(name[at - 1])) && end < name.size() && !is_word(name[end])) return at;
  }
  return std::string_view::npos;
}

/// Without what may follow the parameters of a member function.
std::string_view without_qualifiers(std::string_view name) {
  constexpr std::string_view kQualifiers[] = {" const", " volatile", " noexcept", " &&", " &"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view each : kQualifiers) {
      if (!name.ends_with(each)) continue;
      name.remove_suffix(each.size());
      again = true;
    }
  }
  return name;
}

std::string_view without_parameters(std::string_view name) {
  const std::string_view bare = without_qualifiers(name);
  if (!bare.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = bare.size(); at-- > 0;) {
    if (bare[at] == ')') ++depth;
    if (bare[at] == '(' && --depth == 0) return at == 0 ? name : bare.substr(0, at);
  }
  return name;
}

std::string_view without_type(std::string_view name) {
  const std::size_t end = std::min(operator_in(name), name.size());
  int depth = 0;
  for (std::size_t at = end; at-- > 0;) {
    const char c = name[at];
    if (c == ')' || c == '>' || c == ']' || c == '}') ++depth;
    if (c == '(' || c == '<' || c == '[' || c == '{') --depth;
    if (c == ' ' && depth == 0) return name.substr(at + 1);
  }
  return name;
}

bool fits_short(std::string_view readable, std::string_view text) {
  const std::string_view bare = without_parameters(readable);
  if (bare == text) return true;
  // Only names with parameters have a type before them.
  return bare.size() != readable.size() && without_type(bare) == text;
}

NameForm own_form(std::string_view text, const std::string& name) {
  if (name == text) return NameForm::kLinker;
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return NameForm::kNone;
  const std::string readable = readable_name(name);
  if (readable == text) return NameForm::kReadable;
  return fits_short(readable, text) ? NameForm::kShort : NameForm::kNone;
}

NameForm form_of(std::string_view text, const std::string& name) {
  const NameForm own = own_form(text, name);
  if (own != NameForm::kNone) return own;
  const std::string_view whole = program::parent_name(name);
  if (whole == name) return NameForm::kNone;
  return own_form(text, std::string(whole)) == NameForm::kNone ? NameForm::kNone : NameForm::kWhole;
}

/// A function among several that a name may mean.
struct PossibleFunction {
  std::string name{};     ///< As it is shown.
  std::string program{};  ///< Its path; may be empty.
  std::uint64_t start = 0;
};

std::unexpected<Error> ambiguous(const std::string& text,
                                 std::span<const PossibleFunction> candidates) {
  std::string list;
  for (const PossibleFunction& each :
       candidates.first(std::min(candidates.size(), kMostCandidates))) {
    if (!list.empty()) list += ", ";
    list += fmt::format("{} at 0x{:x}", escaped(each.name), each.start);
    if (!each.program.empty()) list += fmt::format(" in {}", escaped(each.program));
  }
  if (candidates.size() > kMostCandidates)
    list += fmt::format(" and {} more", candidates.size() - kMostCandidates);
  return fail(ErrorCode::kConflict,
              fmt::format("'{}' means several functions: {}. Write the whole name, "
                          "PROGRAM:NAME or PROGRAM:ADDRESS.",
                          escaped(text), list));
}

/// Collects names that a mistyped one may mean.
class Suggestions {
 public:
  void add(const std::string& name) {
    if (names_.size() >= kMostCompared) return;
    const std::string readable = readable_name(name);
    const std::string_view bare = short_name(readable);
    if (bare != readable) names_.emplace_back(bare);
    names_.push_back(readable);
  }
  [[nodiscard]] std::unexpected<Error> unknown(const std::string& text) const {
    std::vector<std::string_view> known;
    if (names_.size() < kMostCompared) known.assign(names_.begin(), names_.end());
    const auto meant = nearest(text, known);
    return fail(ErrorCode::kNotFound,
                fmt::format("no function is called '{}'{}", escaped(text),
                            meant ? fmt::format("; did you mean '{}'?", escaped(*meant)) : "."));
  }

 private:
  std::vector<std::string> names_;
};

/// Two copies of one program, or one that was opened twice.
bool are_same(const program::Program& one, const program::Program& other) {
  const bool same_path = !one.path().empty() && one.path() == other.path();
  return same_path || diff::identity_of(one) == diff::identity_of(other);
}

}  // namespace

std::string_view short_name(std::string_view readable) {
  const std::string_view bare = without_parameters(readable);
  return bare.size() == readable.size() ? readable : without_type(bare);
}

std::optional<std::string_view> FunctionQuery::after(std::string_view program) const {
  const std::string_view text = text_;
  for (std::size_t at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    const std::string_view path = text.substr(0, at);
    if (path.empty() || !program.ends_with(path) || text.substr(at).starts_with("::")) continue;
    // The last components of the path, as a recording has it below --symfs.
    const std::size_t begin = program.size() - path.size();
    if (begin == 0 || path.front() == '/' || program[begin - 1] == '/') return text.substr(at + 1);
  }
  return std::nullopt;
}

NameForm FunctionQuery::form(std::string_view program, const std::string& name) const {
  const NameForm whole = form_of(text_, name);
  const auto rest = after(program);
  return rest ? std::min(whole, form_of(*rest, name)) : whole;
}

std::optional<std::uint64_t> FunctionQuery::address(std::string_view program) const {
  return parse_number(after(program).value_or(text_));
}

Result<std::vector<NamedFunction>> find_functions(std::span<const program::Program* const> programs,
                                                  const std::string& text) {
  const FunctionQuery query(text);
  NameForm best = NameForm::kNone;
  std::vector<NamedFunction> found;
  for (const program::Program* program : programs) {
    for (const program::Function& function : program->functions()) {
      const NameForm form = query.form(program->path(), function.name);
      if (form == NameForm::kNone || form > best) continue;
      if (form < best) found.clear();
      best = form;
      found.push_back({program, &function});
    }
  }
  for (const program::Program* program : programs) {
    if (best != NameForm::kNone) break;
    const auto address = query.address(program->path());
    const program::Function* const function = address ? program->function(*address) : nullptr;
    if (function != nullptr) found.push_back({program, function});
  }
  if (found.empty()) {
    Suggestions suggestions;
    for (const program::Program* program : programs)
      for (const program::Function& function : program->functions()) suggestions.add(function.name);
    return suggestions.unknown(text);
  }
  std::vector<PossibleFunction> candidates;
  std::vector<std::pair<const program::Program*, std::uint64_t>> distinct;
  for (const NamedFunction& each : found) {
    const auto [whole, name] = each.program->whole(*each.function);
    const std::uint64_t start = whole->start;
    const bool known = std::ranges::any_of(distinct, [&](const auto& other) {
      return other.second == start && are_same(*other.first, *each.program);
    });
    if (known) continue;
    distinct.emplace_back(each.program, start);
    candidates.push_back({.name = readable_name(each.function->name),
                          .program = each.program->path(),
                          .start = each.function->start});
  }
  if (distinct.size() == 1) return found;
  return ambiguous(text, candidates);
}

Result<std::vector<stacks::CodeId>> find_functions(const stacks::Tree& tree,
                                                   const std::string& text) {
  using stacks::CodeKind;
  const FunctionQuery query(text);
  const std::vector<stacks::Code>& codes = tree.codes();
  std::vector<NameForm> forms(codes.size(), NameForm::kNone);
  std::map<std::tuple<const program::Program*, std::uint64_t, std::string_view>, stacks::CodeId>
      functions;
  std::set<const program::Program*> programs;
  for (stacks::CodeId id = 0; id < codes.size(); ++id) {
    const stacks::Code& code = codes[id];
    if (code.kind == CodeKind::kRoot) continue;
    forms[id] = query.form(code.program, stacks::name_of(code));
    if (code.kind != CodeKind::kFunction || code.source == nullptr) continue;
    functions.try_emplace({code.source, code.start, code.name}, id);
    programs.insert(code.source);
  }
  // A tree has no frames of parts, which have names of their own.
  for (const program::Program* program : programs) {
    const auto code_of = [&](const program::Function& function) -> std::optional<stacks::CodeId> {
      const auto [whole, name] = program->whole(function);
      const auto at = functions.find({program, whole->start, name});
      if (at == functions.end()) return std::nullopt;
      return at->second;
    };
    for (const program::Function& function : program->functions()) {
      if (program::parent_name(function.name) == function.name) continue;
      const auto code = code_of(function);
      if (code) forms[*code] = std::min(forms[*code], query.form(program->path(), function.name));
    }
    const auto address = query.address(program->path());
    const program::Function* const function = address ? program->function(*address) : nullptr;
    const auto code = function == nullptr ? std::nullopt : code_of(*function);
    if (code) forms[*code] = std::min(forms[*code], NameForm::kWhole);
  }
  const NameForm best = std::ranges::min(forms);
  std::vector<stacks::CodeId> found;
  if (best != NameForm::kNone) {
    for (stacks::CodeId id = 0; id < codes.size(); ++id)
      if (forms[id] == best) found.push_back(id);
  }
  if (found.size() == 1) return found;
  if (found.empty()) {
    Suggestions suggestions;
    for (const stacks::Code& code : codes)
      if (code.kind == CodeKind::kFunction) suggestions.add(code.name);
    return suggestions.unknown(text);
  }
  std::vector<PossibleFunction> candidates;
  for (const stacks::CodeId id : found) {
    candidates.push_back({.name = readable_name(stacks::name_of(codes[id])),
                          .program = codes[id].program,
                          .start = codes[id].start});
  }
  return ambiguous(text, candidates);
}

Result<FunctionMatch> FunctionMatch::find(std::span<const program::Program* const> programs,
                                          const std::string& text, bool others) {
  FunctionMatch match;
  match.query_ = FunctionQuery(text);
  match.known_.assign(programs.begin(), programs.end());
  auto found = find_functions(programs, text);
  if (found) {
    match.meant_ = *std::move(found);
  } else if (others && found.error().code == ErrorCode::kNotFound) {
    match.unknown_ = std::move(found).error().detail;
  } else {
    return std::unexpected(std::move(found).error());
  }
  return match;
}

bool FunctionMatch::matches(const program::Program& program, const program::Function& function) {
  const NamedFunction asked{&program, &function};
  if (asked == asked_) return is_meant_;
  asked_ = asked;
  if (std::ranges::find(known_, &program) != known_.end()) {
    is_meant_ = std::ranges::find(meant_, asked) != meant_.end();
  } else {
    is_meant_ = meant_.empty() && query_.form(program.path(), function.name) != NameForm::kNone;
  }
  return is_meant_;
}

}  // namespace waymark::outputs
