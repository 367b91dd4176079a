// Estimates what given registers would trace of a program: which addresses, how many bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "waymark/synth/programmed_unit.h"

namespace waymark::synth {

struct Estimate {
  /// A contiguous range of addresses of which something is traced.
  struct Stretch {
    std::uint64_t first = 0;
    std::uint64_t end = 0;  ///< After the last instruction.
    std::uint64_t instructions = 0;
  };
  struct PacketShare {
    std::string_view kind{};  ///< "atoms"
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
  };

  std::uint64_t executed = 0;  ///< Instructions.
  std::uint64_t traced = 0;
  std::uint64_t bytes = 0;             ///< Bytes from the trace unit, without frames.
  std::vector<Stretch> stretches{};    ///< By address.
  std::vector<PacketShare> packets{};  ///< Only packets that occur, those with the most bytes
                                       ///< first.
};

/// Runs the program, makes the trace, decodes it and counts. `bounds` are addresses, in ascending
/// order, at which a stretch ends even without a gap, such as the starts of functions. Memory
/// depends on the size of the program, not on the length of the run.
///
/// Errors as of make_programmed_unit(); kBadData: the trace cannot be decoded, which is a fault of
/// this library.
Result<Estimate> estimate_trace(const ProgrammedOptions& options, const Program& program,
                                const ExecutionOptions& execution,
                                const std::vector<std::uint64_t>& bounds = {});

}  // namespace waymark::synth
