// A function with what a window executed of it.
#pragma once

#include "knowledge.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// Of larger functions, this much around the place is shown.
inline constexpr std::uint64_t kMostCode = std::uint64_t{64} << 10;
/// Larger source files are not read.
inline constexpr std::uint64_t kMostSource = std::uint64_t{8} << 20;
/// Of longer source files, this many lines around the function are shown.
inline constexpr std::uint32_t kMostLines = 4000;
/// Longer source lines are cut.
inline constexpr std::size_t kLongestLine = 4096;

/// The code of the function in which an instruction is; without a function, that around it.
/// kNotFound: the source has not executed the instruction.
Result<Code> code_around(Replay& replay, Instant instant, const Window& window,
                         const Knowledge& knowledge, const Stop& stop);

/// The code of a function.  kNotFound: there is no such function.
Result<Code> code_of(Replay& replay, FunctionNumber function, const Window& window,
                     const Knowledge& knowledge, const Stop& stop);

}  // namespace waymark::view
