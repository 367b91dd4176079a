// The text of a control-flow graph; docs/synth.md.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "graph.h"
#include "waymark/base/number.h"

namespace waymark::synth {
namespace {

using isa::Isa;

constexpr std::size_t kMaxText = std::size_t{16} << 20;
constexpr std::size_t kMaxNesting = 64;
constexpr std::size_t kMaxFunctions = 100'000;
constexpr std::uint32_t kMaxNumber = 1'000'000;

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  while (true) {
    const std::size_t from = line.find_first_not_of(kBlanks);
    if (from == std::string_view::npos) return words;
    line.remove_prefix(from);
    const std::size_t size = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

class Parser {
 public:
  Result<Graph> run(std::string_view text) {
    if (text.size() > kMaxText)
      return fail(ErrorCode::kLimit, "The description is larger than 16 MiB.");
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      take(words_of(text.substr(0, end)));
      if (!error_.empty()) return fail(ErrorCode::kParse, error_);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!open_.empty()) wrong("The function is not closed; write `end`");
    resolve();
    if (!error_.empty()) return fail(ErrorCode::kParse, error_);
    return std::move(graph_);
  }

 private:
  /// A list of statements that is not complete, and the keyword that opened it.
  struct Open {
    std::vector<Statement>* body;
    std::string_view keyword;
  };
  struct Name {
    std::string text;
    std::size_t line;
  };

  void wrong(const std::string& what) {
    if (error_.empty()) error_ = fmt::format("line {}: {}.", line_, what);
  }

  std::uint32_t number(std::string_view word, std::uint32_t most) {
    const std::optional<std::uint64_t> value = parse_number(word);
    if (!value || *value > most) {
      wrong(fmt::format("'{}' is not a number from 0 to {}", word, most));
      return 0;
    }
    return static_cast<std::uint32_t>(*value);
  }

  bool arguments(const std::vector<std::string_view>& words, std::size_t least, std::size_t most,
                 std::string_view usage) {
    if (words.size() > least && words.size() <= most + 1) return true;
    wrong(fmt::format("Write `{}`", usage));
    return false;
  }

  void open(Statement statement, std::string_view keyword) {
    if (open_.size() >= kMaxNesting) {
      wrong("Statements are nested too deeply");
      return;
    }
    open_.back().body->push_back(std::move(statement));
    Statement& placed = open_.back().body->back();
    placed.bodies.resize(1);
    open_.push_back({&placed.bodies.front(), keyword});
  }

  std::uint32_t name(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), names_.size());
    if (is_new) names_.push_back({std::string(text), line_});
    return static_cast<std::uint32_t>(at->second);
  }

  void take(const std::vector<std::string_view>& words) {
    if (words.empty()) return;
    const std::string_view keyword = words.front();
    if (open_.empty()) {
      take_outside(words, keyword);
    } else {
      take_inside(words, keyword);
    }
  }

  void take_outside(const std::vector<std::string_view>& words, std::string_view keyword) {
    if (keyword == "isa") {
      if (!arguments(words, 1, 1, "isa A64|A32|T32")) return;
      if (words[1] == "A64")
        isa_ = Isa::kA64;
      else if (words[1] == "A32")
        isa_ = Isa::kA32;
      else if (words[1] == "T32")
        isa_ = Isa::kT32;
      else
        wrong(fmt::format("'{}' is not A64, A32 or T32", words[1]));
    } else if (keyword == "at") {
      if (!arguments(words, 1, 1, "at ADDRESS")) return;
      const std::optional<std::uint64_t> value = parse_number(words[1]);
      if (!value || *value == 0 || *value % 4 != 0)
        wrong(fmt::format("'{}' is not an address that is a multiple of 4", words[1]));
      address_ = value.value_or(0);
    } else if (keyword == "function" || keyword == "handler") {
      if (!arguments(words, 1, 1, "function NAME")) return;
      if (graph_.functions.size() >= kMaxFunctions) wrong("There are too many functions");
      if (!defined_.try_emplace(std::string(words[1]), graph_.functions.size()).second)
        wrong(fmt::format("There is already a function '{}'", words[1]));
      graph_.functions.push_back({.name = std::string(words[1]),
                                  .isa = isa_,
                                  .handler = keyword == "handler",
                                  .address = std::exchange(address_, 0)});
      open_.push_back({&graph_.functions.back().body, "function"});
    } else {
      wrong(fmt::format(
          "'{}' is not allowed outside a function; write isa, at, function or handler", keyword));
    }
  }

  void take_inside(const std::vector<std::string_view>& words, std::string_view keyword) {
    using enum Statement::Kind;
    std::vector<Statement>& body = *open_.back().body;
    const bool choosing = open_.back().keyword == "choose";
    if (keyword == "end") {
      if (open_.back().keyword == "case") open_.pop_back();
      if (open_.back().keyword == "choose" && choice()->bodies.empty())
        wrong("There is nothing to choose from; write `case`");
      open_.pop_back();
      return;
    }
    if (keyword == "case") {
      if (open_.back().keyword == "case") open_.pop_back();
      if (open_.back().keyword != "choose") {
        wrong("`case` is only allowed in a `choose`");
        return;
      }
      choice()->bodies.emplace_back();
      open_.push_back({&choice()->bodies.back(), "case"});
      return;
    }
    if (choosing) {
      wrong("A `choose` begins with `case`");
      return;
    }
    if (keyword == "work") {
      if (arguments(words, 1, 1, "work INSTRUCTIONS"))
        body.push_back({.kind = kWork, .from = number(words[1], kMaxNumber)});
    } else if (keyword == "loop") {
      if (!arguments(words, 1, 2, "loop TIMES [MOST]")) return;
      const std::uint32_t from = number(words[1], kMaxNumber);
      const std::uint32_t to = words.size() > 2 ? number(words[2], kMaxNumber) : from;
      if (from == 0 || to < from) wrong("A loop runs at least once, and at most MOST times");
      open({.kind = kLoop, .from = from, .to = to}, "loop");
    } else if (keyword == "skip") {
      if (arguments(words, 1, 1, "skip PERCENT"))
        open({.kind = kSkip, .from = number(words[1], 100)}, "skip");
    } else if (keyword == "choose") {
      if (!arguments(words, 0, 0, "choose")) return;
      open({.kind = kChoose}, "choose");
      if (error_.empty()) choice()->bodies.clear();
    } else if (keyword == "call") {
      if (arguments(words, 1, 1, "call NAME"))
        body.push_back({.kind = kCall, .callees = {name(words[1])}});
    } else if (keyword == "call_indirect") {
      if (!arguments(words, 1, 1000, "call_indirect NAME…")) return;
      Statement call{.kind = kCallIndirect};
      for (std::size_t i = 1; i < words.size(); ++i) call.callees.push_back(name(words[i]));
      body.push_back(std::move(call));
    } else if (keyword == "return_if") {
      if (arguments(words, 1, 1, "return_if PERCENT"))
        body.push_back({.kind = kReturnIf, .from = number(words[1], 100)});
    } else if (keyword == "barrier" || keyword == "wait" || keyword == "supervisor_call") {
      if (arguments(words, 0, 0, keyword))
        body.push_back({.kind = keyword == "wait"      ? kWait
                                : keyword == "barrier" ? kBarrier
                                                       : kSupervisorCall});
    } else {
      wrong(
          fmt::format("'{}' is not a statement; there are work, loop, skip, choose, call, "
                      "call_indirect, return_if, barrier, wait, supervisor_call and end",
                      keyword));
    }
  }

  /// The open `choose`: the last statement of the enclosing list.
  Statement* choice() { return &open_[open_.size() - 2].body->back(); }

  void resolve(std::vector<Statement>& body, const std::vector<std::uint32_t>& numbers) {
    for (Statement& statement : body) {
      for (std::uint32_t& callee : statement.callees) callee = numbers[callee];
      for (std::vector<Statement>& inner : statement.bodies) resolve(inner, numbers);
    }
  }

  void resolve() {
    std::vector<std::uint32_t> numbers;
    for (const Name& used : names_) {
      const auto at = defined_.find(used.text);
      line_ = used.line;
      if (at == defined_.end()) {
        wrong(fmt::format("There is no function '{}'", used.text));
        return;
      }
      numbers.push_back(static_cast<std::uint32_t>(at->second));
    }
    for (Function& function : graph_.functions) resolve(function.body, numbers);
  }

  Graph graph_;
  Isa isa_ = Isa::kA64;
  std::uint64_t address_ = 0;
  std::vector<Open> open_;
  std::map<std::string, std::size_t> numbers_;  // The numbers of names, in the order of use.
  std::vector<Name> names_;
  std::map<std::string, std::size_t> defined_;
  std::size_t line_ = 0;
  std::string error_;
};

}  // namespace

Result<Program> Program::described(std::string_view text, std::uint64_t max_code, MCode m_code) {
  Result<Graph> graph = Parser().run(text);
  if (!graph) return std::unexpected(graph.error());
  graph->max_code = max_code;
  graph->m_code = m_code;
  Result<Program> program = assemble(*graph);
  if (!program) return program;
  // Handlers of a graph for any M profile have no vectors.
  const bool vectors = m_code > MCode::kAny;
  if (!program->handlers().empty() && !vectors) return program;
  if (m_code != MCode::kNone) {
    WAYMARK_TRY(program->add_vectors(m_code));
    return program;
  }
  WAYMARK_TRY(program->add_default_handlers(program->uses(Isa::kA64) ? Isa::kA64 : Isa::kA32));
  return program;
}

}  // namespace waymark::synth
