// A control-flow graph, made of functions of nested statements, and its assembly into instructions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/synth/program.h"

namespace waymark::synth {

struct Statement {
  enum class Kind : std::uint8_t {
    kWork,          ///< `from` instructions that are not waypoints.
    kLoop,          ///< bodies[0], `from` to `to` times.
    kSkip,          ///< bodies[0], skipped in `from` % of cases.
    kChoose,        ///< One of `bodies`.
    kCall,          ///< callees[0].
    kCallIndirect,  ///< One of `callees`.
    kReturnIf,      ///< In `from` % of cases.
    kBarrier,
    kWait,
    kSupervisorCall,  ///< M profile only.
  };
  Kind kind = Kind::kWork;
  std::uint32_t from = 1;
  std::uint32_t to = 1;
  std::vector<std::uint32_t> callees{};  ///< Indexes into Graph::functions.
  std::vector<std::vector<Statement>> bodies{};
};

struct Function {
  std::string name{};
  isa::Isa isa = isa::Isa::kA64;
  bool handler = false;
  std::uint64_t address = 0;  ///< 0: after the previous function.
  std::vector<Statement> body{};
};

/// Execution begins at the first function that is not a handler.
struct Graph {
  std::uint64_t address = 0;  ///< The address of the first function; 0: the default.
  std::uint64_t max_code = Program::kMaxCode;  ///< The maximum size of all code, in bytes.
  /// From kV7 on, functions are T32 with instructions of this architecture, and the name of a
  /// handler is that of its exception: "SysTick", "IRQ5".
  MCode m_code = MCode::kNone;
  std::vector<Function> functions{};
};

/// kLimit: there is too much code, or a branch is too far for its instruction.  kInvalidArgument: a
/// call that the instruction sets do not allow, no function at which to begin, or something that
/// the profile does not have.
Result<Program> assemble(const Graph& graph);

}  // namespace waymark::synth
