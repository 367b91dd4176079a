#include <fmt/core.h>

#include <algorithm>

#include "graph.h"
#include "waymark/element/exception_names.h"
#include "waymark/synth/random.h"

namespace waymark::synth {
namespace {

using isa::Isa;

class Maker {
 public:
  explicit Maker(const Program::RandomOptions& options)
      : options_(options), random_(options.seed) {}

  Graph make() {
    Graph graph;
    graph.address = options_.address;
    graph.m_code = options_.m_code;
    for (unsigned i = 0; i < options_.functions; ++i) {
      index_ = i;
      graph.functions.push_back({.name = fmt::format("f{}", i),
                                 .isa = options_.mixed && random_.coin()
                                            ? (options_.isa == Isa::kA32 ? Isa::kT32 : Isa::kA32)
                                            : options_.isa,
                                 .body = body(0)});
    }
    if (options_.m_code > MCode::kAny) add_handlers(graph);
    return graph;
  }

 private:
  static constexpr unsigned kMaxNesting = 3;

  // They are short, and call only the last function: nothing of a lower priority happens meanwhile.
  void add_handlers(Graph& graph) {
    index_ = std::max(options_.functions, 2U) - 2;
    for (const std::uint32_t vector : Program::usual_vectors(options_.m_code))
      graph.functions.push_back({.name = exception_name(ExceptionNumbers::kIpsr, vector),
                                 .isa = Isa::kT32,
                                 .handler = true,
                                 .body = body(kMaxNesting)});
  }

  std::uint32_t callee() {
    return random_.between(index_ + 1, std::min(index_ + 12, options_.functions - 1));
  }

  std::vector<Statement> body(unsigned depth) {
    std::vector<Statement> statements;
    const std::uint32_t mean = std::max(1U, options_.statements >> depth);
    for (std::uint32_t i = random_.between(1, 2 * mean); i != 0; --i) {
      if (random_.coin()) statements.push_back({.from = random_.between(1, 6)});
      statements.push_back(statement(depth));
    }
    return statements;
  }

  Statement statement(unsigned depth) {
    using enum Statement::Kind;
    const bool calls = index_ + 1 < options_.functions;
    const bool nests = depth < kMaxNesting;
    // Not in functions that handlers call: most handlers may not call the supervisor.
    constexpr std::uint32_t kStatementsPerCall = 24;
    if (options_.supervisor_calls && index_ < options_.functions / 2 &&
        random_.one_in(kStatementsPerCall))
      return {.kind = kSupervisorCall};
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        if (nests) {
          const std::uint32_t from = random_.between(1, 8);
          return {.kind = kLoop,
                  .from = from,
                  .to = from + random_.below(random_.one_in(4) ? 60 : 6),
                  .bodies = {body(depth + 1)}};
        }
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        if (nests) {
          constexpr std::uint32_t kPercents[] = {2, 10, 30, 50, 70, 90, 98, 50};
          return {.kind = kSkip, .from = kPercents[random_.below(8)], .bodies = {body(depth + 1)}};
        }
        break;
      case 7:
        if (nests) {
          Statement choose{.kind = kChoose};
          for (std::uint32_t i = random_.between(2, 5); i != 0; --i)
            choose.bodies.push_back(body(depth + 2));
          return choose;
        }
        break;
      case 8:
      case 9:
      case 10:
        if (calls) return {.kind = kCall, .callees = {callee()}};
        break;
      case 11:
        if (calls) {
          Statement call{.kind = kCallIndirect};
          for (std::uint32_t i = random_.between(1, 4); i != 0; --i)
            call.callees.push_back(callee());
          return call;
        }
        break;
      case 12:
        return {.kind = kReturnIf, .from = random_.between(2, 40)};
      case 13:
        return {.kind = kBarrier};
      case 14:
        return {.kind = random_.one_in(4) ? kWait : kBarrier};
      default:
        break;
    }
    return {.from = random_.between(1, 12)};
  }

  const Program::RandomOptions& options_;
  Random random_;
  unsigned index_ = 0;
};

}  // namespace

Result<Program> Program::random(const RandomOptions& options) {
  const bool known =
      options.isa == Isa::kA64 || options.isa == Isa::kA32 || options.isa == Isa::kT32;
  if (!known || (options.mixed && options.isa == Isa::kA64))
    return fail(ErrorCode::kInvalidArgument,
                "A random program is A64, A32 or T32; only the last two can be mixed.");
  if (options.functions < 1 || options.functions > 10'000)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("A random program of {} functions is not possible; take 1 to 10000.",
                            options.functions));
  if (options.statements < 1 || options.statements > 1'000)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("Functions of {} statements are not possible; take 1 to 1000.",
                            options.statements));
  if (options.address % 4 != 0 || (options.isa != Isa::kA64 && options.address > 0xFFFFFFFF))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The program cannot begin at {:#x}: A multiple of 4 is needed, and "
                            "for A32 and T32 one below 4 GiB.",
                            options.address));
  const bool m_profile = options.m_code != MCode::kNone;
  if (m_profile && (options.isa != Isa::kT32 || options.mixed || options.a64_handlers))
    return fail(ErrorCode::kInvalidArgument, "A program of the M profile is T32 only.");
  Result<Program> program = assemble(Maker(options).make());
  if (!program) return program;
  if (m_profile) {
    WAYMARK_TRY(program->add_vectors(options.m_code));
    return program;
  }
  WAYMARK_TRY(program->add_default_handlers(options.a64_handlers       ? Isa::kA64
                                            : options.isa == Isa::kA64 ? Isa::kA64
                                                                       : Isa::kA32));
  return program;
}

}  // namespace waymark::synth
