// The path of a program: its place, its return stack, and what atoms and addresses do to them.  See
// docs/architecture.md, isa-waypoints.md 6.
#pragma once

#include <cstdint>

#include "waymark/flow/follower.h"
#include "waymark/flow/return_stack.h"
#include "waymark/image/image.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// The facts that the trace has stated about a path.  Everything else is only remembered from the
/// image.
struct PathState {
  ReturnStack return_stack;
  std::uint64_t address = 0;  ///< That of the next instruction; see `lost`.
  isa::Isa isa = isa::Isa::kA32;
  std::uint8_t it = 0;  ///< Instructions left in the IT block.
  /// `address` is not where execution is: an indirect branch has gone somewhere.
  bool lost = true;
  /// The return stack has the place, unless the trace states another one before the next atom.
  bool pop_pending = false;
  /// Calls do not go to the return stack now.
  bool calls_forgotten = false;
  /// Calls were executed that are not known: the trace unit has entries below the return stack.
  bool calls_missed = false;

  friend bool operator==(const PathState&, const PathState&) = default;
};

/// How an indirect branch finds its target.
enum class Returns : std::uint8_t {
  kLater,   ///< On the return stack, when the next atom comes: an address may come first (ETMv4).
  kAtOnce,  ///< On the return stack, at once (PTM).
  kNever,   ///< The trace states it.
};

/// Why a path did not go on.
enum class Stop : std::uint8_t {
  kNone,
  kLost,        ///< Nothing says where execution is.
  kStackEmpty,  ///< The return stack should say it, but is empty.
  kBlockEnd,    ///< block() does not end with a waypoint.
  kNoRoom,      ///< The sink is full.
};

/// The outcome of an atom.
enum class Turn : std::uint8_t {
  kOn,
  kStuck,       ///< The atom cannot be followed.
  kStuckAfter,  ///< It was followed; those after it cannot be.
};

/// One path of execution over the blocks of a follower.  Atoms are taken by take() of path_inl.h.
/// While block() is set, it alone has the place; see settle().  One owner; not thread safe.
class Path : public PathState {
 public:
  /// `image` must outlive the path.  `returns`: the trace unit has a return stack.
  Path(const image::Image& image, const isa::Options& options, TraceId trace_id, bool returns);

  [[nodiscard]] Follower& follower() { return follower_; }
  [[nodiscard]] const Follower& follower() const { return follower_; }
  [[nodiscard]] bool returns() const { return returns_; }

  /// The block at the place; nullptr: it was not looked up yet.
  [[nodiscard]] const Block* block() const { return block_; }
  /// The indirect branch after which nothing was looked up; nullptr: there is none.
  [[nodiscard]] const Block* indirect_branch() const {
    const bool is_last = block_ == nullptr && from_ != nullptr && from_taken_;
    return is_last && from_->is_indirect_branch() ? static_cast<const Block*>(from_) : nullptr;
  }
  [[nodiscard]] Stop stop() const { return stop_; }

  /// The state, with the place in it.
  [[nodiscard]] PathState settled() const {
    PathState state = *this;
    if (block_ != nullptr) place_at(state, *block_);
    return state;
  }
  void settle() {
    if (block_ != nullptr) place_at(*this, *block_);
  }
  /// After a copy, which has no blocks: continues at the place of `original`.
  void take_place(const Path& original) {
    if (original.block_ != nullptr) place_at(*this, *original.block_);
  }

  /// Forgets the blocks, as after a look-up elsewhere: what comes next does not follow from them.
  void cut() { block_ = from_ = nullptr; }
  /// The trace states the place.
  void go_to(std::uint64_t to, isa::Isa in) {
    if (block_ != nullptr) it = block_->it_in;
    address = to;
    isa = in;
    lost = pop_pending = false;
    // Only the guess of an indirect branch may be linked to an address that is stated: every other
    // link is followed without a comparison.
    if (block_ != nullptr || (from_ != nullptr && !(from_taken_ && from_->is_indirect_branch())))
      from_ = nullptr;
    block_ = nullptr;
  }
  /// Nothing says where execution is.
  void lose() {
    lost = true;
    pop_pending = false;
    cut();
  }
  /// A call was executed.
  void push(std::uint64_t return_address, isa::Isa in, const Block* caller = nullptr);
  /// The return stack states the place.  False: it is empty, but should not be.
  bool pop();
  /// The trace unit has emptied its return stack.
  void forget_calls() {
    return_stack.clear();
    pop_pending = calls_missed = false;
  }
  /// Code was executed that is not known.  What it called is on the trace unit's return stack,
  /// above the entries that are known.
  void miss_calls() {
    return_stack.clear();
    pop_pending = false;
    calls_missed = returns_;
  }

  /// Continues from the state of another path over the same program.
  void restore(const PathState& state) {
    static_cast<PathState&>(*this) = state;
    return_stack.forget_callers();
    cut();
  }

  /// The quirk of PTM.
  [[nodiscard]] bool untaken_blx_changes_isa() const { return untaken_blx_changes_isa_; }
  void set_untaken_blx_changes_isa(bool on) { untaken_blx_changes_isa_ = on; }

  template <Returns kReturns, class Sink>
  Turn take(std::uint64_t& atoms, std::uint32_t& left, Sink& sink);

 private:
  template <Returns kReturns, class Sink>
  struct Track;

  template <Returns kReturns, class Sink>
  Turn turn(const Block*& at, bool taken, Sink& sink);
  static void place_at(PathState& state, const Block& block) {
    state.address = block.start;
    state.isa = block.isa;
    state.it = block.it_in;
  }
  const Block* arrive();
  const Block* go_on(const Block& from, bool taken);
  [[nodiscard]] const Block* caller_of(const ReturnStack::Entry& entry) const;
  void return_to(std::uint64_t to, isa::Isa in, const Block* caller);

  Follower follower_;
  bool returns_;
  bool untaken_blx_changes_isa_ = false;
  Stop stop_ = Stop::kNone;
  BlockPointer block_;
  BlockPointer from_;  ///< The previous block, for its links.
  bool from_taken_ = false;
  std::uint64_t flushes_ = 0;  ///< The follower's, when the callers on the stack were blocks.
};

}  // namespace waymark::flow
