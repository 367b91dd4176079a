// Code that was executed in a straight line, between two taken branches: what processors with a
// branch record report, and what the readers of their profiles expect.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/profile/profile.h"

namespace waymark::profile {

struct Trace {
  std::uint64_t start = 0;
  std::uint64_t last = 0;  ///< The address of the last instruction.
  std::uint64_t times = 0;
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Joins the blocks of a program into traces, in ascending order.  A trace ends with a taken
/// branch, or where it is not known what came next.
///
/// Counts do not say which entry of a block led to which exit.  The result is one of the ways in
/// which both can be matched, always the same one.  Each of these ways executes every instruction
/// and every fall-through as often as the program did, which is all that readers of traces use.
/// (Where the trace was lost after a taken branch, a fall-through to its target may be missing.)
/// Blocks are joined only as often as the first one was left without a taken branch and the second
/// one was entered without one, so that a gap in the trace is never bridged unless it begins where
/// another one ends. `program` is one of the profile.
std::vector<Trace> traces(const Profile& profile, const ProgramProfile& program);

}  // namespace waymark::profile
