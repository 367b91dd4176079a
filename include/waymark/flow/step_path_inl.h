// The loop over atoms that stand for single instructions.
#pragma once

#include <algorithm>
#include <bit>

#include "waymark/flow/step_path.h"

namespace waymark::flow {

/// Takes atoms, oldest in bit 0; `left` is not 0, and the path is not lost.  They are removed from
/// `atoms` and `left`.  `Sink` has
///   void pass(const Step&, std::uint32_t executed);   1: the instruction was executed; 0: it was
///   not
///   void pass_on(const Step&);   the same for one that was executed and is not a branch
/// kStuck: there is no instruction for the next atom; see find().  kStuckAfter: an indirect branch
/// was executed, and atoms are left.
template <class Sink>
[[gnu::always_inline]] inline Turn StepPath::take(std::uint32_t& atoms, unsigned& left,
                                                  Sink& sink) {
  const Step* at = find();
  if (at == nullptr) return Turn::kStuck;
  const Turn turned = take_from(at, atoms, left, sink);
  if (at != nullptr) {
    go_to(*at);
  } else {
    step_ = nullptr;
  }
  return turned;
}

/// As take(), for loops that keep the place: from `at` on, which moves.  The path has the place
/// only where `at` becomes nullptr.
template <class Sink>
[[gnu::always_inline]] inline Turn StepPath::take_from(const Step*& at, std::uint32_t& atoms,
                                                       unsigned& left, Sink& sink) {
  const Step* step = at;
  Turn turned = Turn::kOn;
  do {
    // Nearly all are executed and lead on.  The last atom is left for what follows.
    const unsigned most = std::min(static_cast<unsigned>(std::countr_one(atoms)), left - 1);
    unsigned passed = 0;
    for (; passed != most && (step->bits & Step::kStopsExecuted) == 0; ++passed)
      sink.pass_on(*step++);
    atoms >>= passed;
    left -= passed;
    if (step->is_end()) [[unlikely]] {
      step = go_on(*step);
      if (step == nullptr) {
        turned = Turn::kStuck;
        break;
      }
    }
    const std::uint32_t executed = atoms & 1;
    sink.pass(*step, executed);
    atoms >>= 1;
    --left;
    if (executed == 0 || !step->is_branch()) {
      ++step;
      continue;
    }
    step = jump(*step);
    if (step == nullptr) {
      if (left != 0) turned = lost ? Turn::kStuckAfter : Turn::kStuck;
      break;
    }
  } while (left != 0);
  at = step;
  return turned;
}

/// After an executed branch.  nullptr: only the path has the place.
inline const Step* StepPath::jump(const Step& branch) {
  if (branch.type() == isa::InstrType::kIndirectBranch) {
    address = branch.end;
    isa = branch.isa();
    lost = true;
    return nullptr;
  }
  address = cache_.target(branch);
  isa = cache_.next_isa(branch);
  return cache_.after(branch);
}

/// Where a sequence continues.  nullptr: as jump().
inline const Step* StepPath::go_on(const Step& end) {
  address = end.address;
  isa = end.isa();
  return cache_.after(end);
}

}  // namespace waymark::flow
