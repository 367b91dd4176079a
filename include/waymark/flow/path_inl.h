// The loop over atoms.
#pragma once

#include "waymark/flow/path.h"

namespace waymark::flow {

/// Takes atoms, oldest in bit 0; `left` is not 0.  They are removed from `atoms` and `left`.  The
/// only loop over atoms that stand for waypoints: `track` says on what it runs, which is blocks or
/// the nodes of a counter.
///   using Place = ...;                        false: nowhere
///   Place next(Place at, unsigned taken);     where the link leads; false: it takes turn()
///   void pass(Place at, unsigned taken);      the waypoint there is taken or not, next() leads on
///   Turn turn(Place& at, unsigned taken, std::uint32_t left);
///                                             the rest: calls, indirect branches, what is new;
///                                             `left` atoms, with this one, are not taken yet
template <class Track>
[[gnu::always_inline]] inline Turn take_atoms(Track& track, typename Track::Place& place,
                                              std::uint64_t& atoms, std::uint32_t& left) {
  auto at = place;
  std::uint64_t bits = atoms;
  std::uint32_t count = left;
  Turn turned = Turn::kOn;
  do {
    const auto taken = static_cast<unsigned>(bits & 1);
    const auto next = track.next(at, taken);
    if (next) [[likely]] {
      track.pass(at, taken);
      at = next;
    } else {
      auto moved = at;  // `at` stays in a register.
      turned = track.turn(moved, taken, count);
      at = moved;
      if (turned != Turn::kOn) [[unlikely]] {
        if (turned == Turn::kStuckAfter) {
          bits >>= 1;
          --count;
        }
        break;
      }
    }
    bits >>= 1;
  } while (--count != 0);
  place = at;
  atoms = bits;
  left = count;
  return turned;
}

/// A path over blocks.
template <Returns kReturns, class Sink>
struct Path::Track {
  using Place = const Block*;
  /// Stands for a place that was not looked up.
  static constexpr Block kNowhere{};

  Path& path;
  Sink& out;
  Sink sink = out;  ///< A copy, which stays in registers.

  static Place next(Place at, unsigned taken) { return at->next[taken]; }
  void pass(Place at, unsigned taken) { sink.pass(*at, taken != 0); }
  Turn turn(Place& at, unsigned taken, std::uint32_t /*left*/) {
    out = sink;
    const Turn turned = path.turn<kReturns>(at, taken != 0, out);
    sink = out;
    return turned;
  }
};

/// As take_atoms(), from block() on.  `Sink`, which is copied, has
///   void pass(const Block&, bool taken);   the block was executed
///   Turn indirect(const Block&);           after pass(): an indirect branch was taken; kStuckAfter
///                                          if the sink is full, otherwise kOn
///   bool needs_stack();                    a return is not passed if the return stack is empty
/// If it gives another value than kOn, stop() says why.
template <Returns kReturns, class Sink>
[[gnu::always_inline]] inline Turn Path::take(std::uint64_t& atoms, std::uint32_t& left,
                                              Sink& sink) {
  using Over = Track<kReturns, Sink>;
  if (block_ == nullptr) {
    block_ = arrive();
    if (block_ == nullptr) return Turn::kStuck;
  }
  Over track{*this, sink};
  const Block* at = block_;
  const Turn turned = take_atoms(track, at, atoms, left);
  sink = track.sink;
  block_ = at != &Over::kNowhere ? at : nullptr;
  return turned;
}

template <Returns kReturns, class Sink>
[[gnu::noinline]] Turn Path::turn(const Block*& at, bool taken, Sink& sink) {
  using Over = Track<kReturns, Sink>;
  if (at == &Over::kNowhere) {
    const Block* const here = arrive();
    if (here == nullptr) return Turn::kStuck;
    at = here;
  }
  const Block& block = *at;
  if (block.ended != BlockEnd::kWaypoint) [[unlikely]] {
    stop_ = Stop::kBlockEnd;
    return Turn::kStuck;
  }
  if (const Block* const next = block.next[taken ? 1 : 0]) {
    sink.pass(block, taken);
    at = next;
    return Turn::kOn;
  }
  if (!taken || !block.is_indirect_branch()) {
    sink.pass(block, taken);
    const Block* const next = go_on(block, taken);
    at = next != nullptr ? next : &Over::kNowhere;
    return Turn::kOn;
  }
  at = &Over::kNowhere;
  if (kReturns == Returns::kAtOnce && returns_) {
    const ReturnStack::Entry* const top = return_stack.pop();
    if (top == nullptr && calls_missed) {
      sink.pass(block, true);
      go_on(block, true);
      return Turn::kOn;
    }
    if (top == nullptr) {
      at = &block;
      stop_ = Stop::kStackEmpty;
      if (sink.needs_stack()) return Turn::kStuck;
      at = &Over::kNowhere;
      sink.pass(block, true);
      go_on(block, true);
      return Turn::kStuckAfter;
    }
    // A call that is a return pushes its own address over this one.
    const std::uint64_t to = top->address;
    const isa::Isa in = top->isa;
    const Block* const caller = caller_of(*top);
    sink.pass(block, true);
    go_on(block, true);
    return_to(to, in, caller);
    return Turn::kOn;
  }
  sink.pass(block, true);
  go_on(block, true);
  pop_pending = kReturns == Returns::kLater && returns_;
  const Turn turned = sink.indirect(block);
  if (turned != Turn::kOn) stop_ = Stop::kNoRoom;
  return turned;
}

}  // namespace waymark::flow
