// The search of the viewer.
#pragma once

#include "knowledge.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// More hits than this are not given at once.
inline constexpr std::uint32_t kMostHits = 10'000;
/// Longer texts of hits are cut.
inline constexpr std::size_t kLongestHit = 4096;

/// The hits in the order of the axis.  At most AnswerLimits::search_bytes of trace are searched;
/// Query::from with the value of Hits::searched_to goes on.  kInvalidArgument: the text is not of
/// the form that Query::what needs, or the window is none.
///
///     kFunction   part of the name of a function, in any case: where it was called
///     kAddress    hexadecimal, in memory or as the program was linked
///     kLine       "file.c:42"; the end of a path is enough
///     kText       part of a message, in any case
///     kException  its number, or part of its name, in any case
///     kTime       a value of the axis, or "t:" and a value as it is in the trace
Result<Hits> find_hits(Replay& replay, const Query& query, const Knowledge& knowledge,
                       const Stop& stop);

}  // namespace waymark::view
