// A trace unit that its registers control, as a plan or a live unit has set them: which
// instructions it traces, and how.  docs/howto/program_etmv4.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "waymark/etm4x/capabilities.h"
#include "waymark/etm4x/register_image.h"
#include "waymark/synth/trace_unit.h"

namespace waymark::synth {

struct ProgrammedOptions {
  etm4x::RegisterImage image{};
  etm4x::IdRegisters id{};
  etm4x::Environment environment{};
  std::uint64_t seed = 1;
  std::string core{};
  std::uint64_t instructions = 1'000'000;  ///< The core stops when it has executed this many.
};

/// An ETMv4 or ETE, depending on TRCDEVARCH.  A block of instructions is traced from the first one
/// that the filter lets through up to its waypoint, because an atom covers all of them.  An
/// exception is traced if the instruction before it was.  `program` must outlive the unit.  Errors
/// as of make_unit().
Result<std::unique_ptr<TraceUnit>> make_programmed_unit(const ProgrammedOptions& options,
                                                        const Program& program,
                                                        const ExecutionOptions& execution,
                                                        bool keep_truth);

/// Gives the core processes and virtual machines: those with which the registers compare and one
/// more, or a few if they are traced without a comparison.
void add_contexts(const ProgrammedOptions& options, ExecutionOptions& execution);

/// Settings of the registers that the model does not implement, in sentences.
std::vector<std::string> not_modelled(const ProgrammedOptions& options,
                                      const ExecutionOptions& execution);

}  // namespace waymark::synth
