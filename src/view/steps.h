// The next or the previous place of a kind.
#pragma once

#include "knowledge.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// The place after a step.  Where there are fewer places of the kind, it goes as far as it can.
///
/// A step decodes at most AnswerLimits::search_bytes of trace.  Back steps decode from one keyframe
/// after the other.  kNotFound: the source has not executed the instruction.
Result<PlaceAnswer> step_from(Replay& replay, Instant from, const Step& step,
                              const Knowledge& knowledge, const Stop& stop);

/// A greater Step::count counts as this; for steps over, out, and to messages, as 100.
inline constexpr std::uint32_t kMostSteps = 10'000;

}  // namespace waymark::view
