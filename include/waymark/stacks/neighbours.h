// What called a function, and what it called.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "waymark/stacks/tree.h"

namespace waymark::stacks {

/// A function that called another one, or was called by it.
struct Neighbour {
  CodeId code = 0;
  std::uint64_t calls = 0;
  Inclusive all{};  ///< Its part of the function.
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

/// Both tables divide the same sum: what the function executed with everything that it called, in
/// a recursion that of its outermost call.  So the shares of their rows add up to 100 %.
///
/// What called any of `functions`, by number.  A caller gets what its outermost calls executed, so
/// calls of the function from within itself add no instructions.  kRootNode's code: what called is
/// not known.
std::vector<Neighbour> callers_of(const Tree& tree, std::span<const CodeId> functions);

/// What any of `functions` called, by number, and first the functions themselves with their own
/// instructions.  A callee gets what it and its callees executed, up to the next call of the
/// function, whose instructions are in the rows of that call.
std::vector<Neighbour> callees_of(const Tree& tree, std::span<const CodeId> functions);

}  // namespace waymark::stacks
