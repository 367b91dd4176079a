// A trace unit that traces what its registers say, as a plan or a live unit has set them: which
// instructions, and how.  docs/howto_program_etmv4.md.
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
  std::uint64_t instructions = 1'000'000;  ///< The core stops once it has executed so many.
};

/// An ETMv4 or ETE, which TRCDEVARCH decides.  A block of instructions is traced from the first one
/// that the filter lets through to its waypoint, because an atom tells no less; an exception is
/// traced if what came before it was.  `program` must outlive the unit.  Errors as of make_unit().
Result<std::unique_ptr<TraceUnit>> make_programmed_unit(const ProgrammedOptions& options,
                                                        const Program& program,
                                                        const ExecutionOptions& execution,
                                                        bool keep_truth);

/// Gives the core processes and virtual machines: those that the registers compare with and one
/// more, or a few where they are traced and nothing compares.
void add_contexts(const ProgrammedOptions& options, ExecutionOptions& execution);

/// What the registers ask for and the model does not do, in sentences.
std::vector<std::string> not_modelled(const ProgrammedOptions& options,
                                      const ExecutionOptions& execution);

}  // namespace waymark::synth
