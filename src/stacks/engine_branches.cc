// The effect of branches, exceptions and returns on a stack.
#include <algorithm>

#include "engine_state.h"

namespace waymark::stacks {
namespace {

constexpr std::uint64_t kMostCredit = std::uint64_t{1} << 22;
constexpr std::uint64_t kCreditOfCall = 64;
/// Functions that call one another in their tails, without a return.
constexpr std::size_t kLongestChain = 32;

constexpr std::size_t kMostSignals = 4;

/// A handler may skip the instruction, and A32 states the return address with an offset.
bool is_near(std::uint64_t target, std::uint64_t address) {
  const std::uint64_t distance = target > address ? target - address : address - target;
  return distance <= 8 && distance % 2 == 0;
}

}  // namespace

// ---- Frames ---------------------------------------------------------------------------------

std::size_t Engine::base(const Source& source) {
  return std::max(source.thread->suspects, std::size_t{source.thread->barrier});
}

NodeId Engine::parent_of_top(const Source& source) const {
  const Thread& thread = *source.thread;
  const std::size_t top = thread.frames.size() - 1;
  return top == thread.suspects ? thread.root : thread.frames[top - 1].node;
}

void Engine::push(Source& source, const Frame& frame, Opening opening) {
  flush(source);
  Thread& thread = *source.thread;
  if (thread.frames.size() >= options_.most_frames || frames_ >= 2 * options_.most_frames ||
      thread.folded != 0) {
    ++thread.folded;
    ++source.quality.folded;
    tree_.fold_call();
    source.running.bounds = Bounds::all();
    return;
  }
  ++frames_;
  search_credit_ = std::min(search_credit_ + kCreditOfCall, kMostCredit);
  if (options_.sink != nullptr)
    options_.sink->on_enter(thread.track, source.position(), frame.code, opening);
  thread.frames.push_back(frame);
  thread.frames.back().opening = opening;
  source.running.bounds = frame.bounds;
  source.running.node = frame.node;
  source.running.named = (frame.flags & kFrameNamed) != 0;
}

void Engine::pop_to(Source& source, std::size_t size) {
  flush(source);
  Thread& thread = *source.thread;
  while (thread.frames.size() > size) {
    const Frame& frame = thread.frames.back();
    if ((frame.flags & kFrameBarrier) != 0) thread.barrier = frame.below;
    const bool is_open = thread.frames.size() > thread.suspects && !thread.away;
    thread.frames.pop_back();
    --frames_;
    if (is_open && options_.sink != nullptr)
      options_.sink->on_leave(thread.track, source.position());
  }
  thread.suspects = std::min(thread.suspects, size);
  if (size == 0) thread.root = root_of(source.context.owner);
}

void Engine::show_top(Source& source) {
  flush(source);
  const Thread& thread = *source.thread;
  if (thread.frames.empty()) {
    source.running.bounds = {};
    source.running.node = kRootNode;
    source.running.named = false;
    return;
  }
  const Frame& top = thread.frames.back();
  source.running.node = top.node;
  source.running.named = (top.flags & kFrameNamed) != 0;
  if ((top.flags & kFrameBarrier) != 0) {
    source.running.bounds = {};
  } else {
    source.running.bounds = top.bounds;
  }
  if (thread.folded != 0) source.running.bounds = Bounds::all();
}

void Engine::report_instant(Source& source, Instant what) {
  flush(source);
  if (options_.sink != nullptr)
    options_.sink->on_instant(source.thread->track, source.position(), what);
}

std::optional<std::size_t> Engine::search(const Source& source, std::size_t from, std::size_t to,
                                          std::uint64_t target) {
  if (target == kNoAddress) return std::nullopt;
  const std::vector<Frame>& frames = source.thread->frames;
  std::uint64_t looked = 0;
  for (std::size_t i = to; i > from; ++looked) {
    --i;
    if (frames[i].ret == target) return i;
    if (looked >= search_credit_) break;
  }
  search_credit_ -= looked;
  return std::nullopt;
}

std::optional<std::size_t> Engine::search_live(const Source& source, std::size_t from,
                                               std::size_t to, std::uint64_t target) {
  if (!options_.places) return std::nullopt;
  const std::vector<Frame>& frames = source.thread->frames;
  std::uint64_t looked = 0;
  for (std::size_t i = to; i > from; ++looked) {
    --i;
    const Frame& frame = frames[i];
    if ((frame.flags & (kFrameNamed | kFrameBarrier)) == kFrameNamed &&
        frame.bounds.contains(target))
      return i;
    if (looked >= search_credit_) break;
  }
  search_credit_ -= looked;
  return std::nullopt;
}

void Engine::open_root(Source& source, const Element& element, std::uint64_t target) {
  // Frames that are only suspected make room.
  if (source.thread->frames.size() >= options_.most_frames) drop_suspects(source);
  const Known known = find(source, element, target);
  Thread& thread = *source.thread;
  const bool is_handler = !thread.frames.empty() &&
                          (thread.frames.back().flags & kFrameBarrier) != 0 &&
                          thread.frames.size() > thread.suspects;
  const NodeId parent =
      thread.frames.size() == thread.suspects ? thread.root : thread.frames.back().node;
  const NodeId node = tree_.child(parent, known.code);
  push(source,
       {.bounds = known.bounds,
        .code = known.code,
        .node = node,
        .flags = static_cast<std::uint8_t>((known.named ? kFrameNamed : 0) |
                                           (known.form == Form::kSwitch ? kFrameSwitch : 0))},
       is_handler ? Opening::kHandler : Opening::kInferred);
}

void Engine::replace_top(Source& source, const Known& known, Opening opening) {
  flush(source);
  Thread& thread = *source.thread;
  Frame& top = thread.frames.back();
  const NodeId parent = parent_of_top(source);
  top.bounds = known.bounds;
  const bool other = top.code != known.code;
  top.code = known.code;
  top.flags &= static_cast<std::uint8_t>(~(kFrameNamed | kFrameSwitch));
  if (known.named) top.flags |= kFrameNamed;
  if (known.form == Form::kSwitch) top.flags |= kFrameSwitch;
  if (other) {
    top.opening = opening;
    top.node = tree_.child(parent, known.code, tree_.node(top.node).site);
    if (opening == Opening::kTailCall && top.node != parent) ++tree_.node(top.node).calls;
    if (options_.sink != nullptr) {
      options_.sink->on_leave(thread.track, source.position());
      options_.sink->on_enter(thread.track, source.position(), top.code, opening);
    }
  }
  show_top(source);
}

void Engine::move(Source& source, const Element& element, std::uint64_t target) {
  const Known known = find(source, element, target);
  const Frame& top = source.thread->frames.back();
  if (!known.named && (top.flags & kFrameNamed) == 0) return;
  replace_top(source, known, Opening::kInferred);
}

// ---- Branches -------------------------------------------------------------------------------

void Engine::transfer(Source& source, const Element& element, std::uint64_t target) {
  const Action action = std::exchange(source.exit.action, Action::kNone);
  Thread& thread = *source.thread;
  if (thread.folded != 0) {
    source.exit.action = action;
    return transfer_folded(source, element, target);
  }
  if (action == Action::kExceptionReturn) return leave_exception(source, element, target);
  if (thread.frames.size() <= base(source)) return open_root(source, element, target);
  if (source.veneer.inside && action != Action::kCall) return leave_veneer(source, element, target);
  switch (action) {
    case Action::kNone:
      if (!source.running.bounds.contains(target)) move(source, element, target);
      break;
    case Action::kDirect:
      jump(source, element, target);
      break;
    case Action::kCall:
      call(source, element, target);
      break;
    case Action::kReturn:
      go_back(source, element, target, true);
      break;
    case Action::kIndirect:
      if (thread.frames.back().ret == target && target != kNoAddress) {
        go_back(source, element, target, false);
      } else {
        jump(source, element, target);
      }
      break;
    case Action::kExceptionReturn:
    case Action::kEnter:
    case Action::kGap:
      break;
  }
}

/// Beyond the greatest depth, calls and returns are only counted.
void Engine::transfer_folded(Source& source, const Element& element, std::uint64_t target) {
  Thread& thread = *source.thread;
  const Action action = std::exchange(source.exit.action, Action::kNone);
  if (action == Action::kCall && target != source.exit.end) {
    ++thread.folded;
    ++source.quality.folded;
    ++source.quality.calls;
    tree_.fold_call();
  } else if (action == Action::kReturn || action == Action::kExceptionReturn) {
    if (--thread.folded != 0) return;
    show_top(source);
    if (thread.frames.size() <= base(source)) return open_root(source, element, target);
    if (!source.running.bounds.contains(target)) move(source, element, target);
  }
}

void Engine::call(Source& source, const Element& element, std::uint64_t target) {
  if (source.veneer.inside) {
    source.veneer.inside = false;
    show_top(source);
  }
  Known& found = find(source, element, target);
  // Within a function, a call to the next instruction only reads the program counter.
  if (target == source.exit.end && !(found.named && found.entry)) return;
  const CodeId code = called_code(found);
  const Known known = found;
  const std::uint64_t site =
      options_.sites ? linked(source, element, source.exit.end - source.last_size) : 0;
  ++source.quality.calls;
  if (known.form == Form::kVeneer) {
    flush(source);
    source.veneer.inside = true;
    source.veneer.called = true;
    source.veneer.ret = source.exit.end;
    source.veneer.site = site;
    source.veneer.from = source.exit.end - source.last_size;
    source.running.bounds = known.bounds;
    return;
  }
  const NodeId parent = source.thread->frames.back().node;
  const NodeId node = tree_.child(parent, code, site);
  if (node != parent) ++tree_.node(node).calls;
  push(source,
       {.ret = source.exit.end,
        .bounds = known.bounds,
        .code = code,
        .node = node,
        .from = source.exit.end - source.last_size,
        .flags = static_cast<std::uint8_t>((known.named ? kFrameNamed : 0) |
                                           (known.form == Form::kSwitch ? kFrameSwitch : 0))},
       Opening::kCall);
}

void Engine::leave_veneer(Source& source, const Element& element, std::uint64_t target) {
  Known& found = find(source, element, target);
  if (found.form == Form::kVeneer) {
    source.running.bounds = found.bounds;
    return;
  }
  const CodeId code = called_code(found);
  const Known known = found;
  source.veneer.inside = false;
  show_top(source);
  if (!source.veneer.called) {
    // As if the branch to the veneer had gone here.
    if (source.thread->frames.back().ret == target && target != kNoAddress)
      return go_back(source, element, target, false);
    return jump(source, element, target);
  }
  if (target == source.veneer.ret) return;
  const NodeId parent = source.thread->frames.back().node;
  const NodeId node = tree_.child(parent, code, source.veneer.site);
  if (node != parent) ++tree_.node(node).calls;
  push(source,
       {.ret = source.veneer.ret,
        .bounds = known.bounds,
        .code = code,
        .node = node,
        .from = source.veneer.from,
        .flags = static_cast<std::uint8_t>((known.named ? kFrameNamed : 0) |
                                           (known.form == Form::kSwitch ? kFrameSwitch : 0))},
       Opening::kCall);
}

void Engine::jump(Source& source, const Element& element, std::uint64_t target) {
  if (source.running.bounds.contains(target)) return;
  Thread& thread = *source.thread;
  const Known known = find(source, element, target);
  if (known.form == Form::kVeneer) {
    flush(source);
    source.veneer.inside = true;
    source.veneer.called = false;
    source.running.bounds = known.bounds;
    return;
  }
  Frame& top = thread.frames.back();
  if (!known.named && (top.flags & kFrameNamed) == 0) return;
  if (known.named && known.code == top.code) {
    top.bounds = known.bounds;
    return show_top(source);
  }
  const std::size_t size = thread.frames.size();
  if (known.named && !known.entry) {
    // To the middle of a function that is open: its landing pad, or what longjmp() goes to.
    if (const auto live = search_live(source, base(source), size - 1, target)) {
      ++source.quality.unwinds;
      report_instant(source, Instant::kUnwind);
      pop_to(source, *live + 1);
      return show_top(source);
    }
  }
  // As count::call_of() has it: what goes to the middle of a function is not a call.
  const bool is_call = known.named && known.entry;
  const Opening opening = is_call ? Opening::kTailCall : Opening::kInferred;
  if (is_call) ++source.quality.tail_calls;
  if (options_.tail_calls == TailCalls::kReplace) return replace_top(source, known, opening);
  // Functions that call one another in their tails for ever do not make the stack grow.
  std::size_t chain = 0;
  for (std::size_t i = size - 1;; --i, ++chain) {
    if (known.named && thread.frames[i].code == known.code) {
      pop_to(source, i + 1);
      thread.frames[i].bounds = known.bounds;
      if (is_call) ++tree_.node(thread.frames[i].node).calls;
      if (options_.sink != nullptr) {
        options_.sink->on_leave(thread.track, source.position());
        options_.sink->on_enter(thread.track, source.position(), known.code, opening);
      }
      return show_top(source);
    }
    if (chain == kLongestChain) return replace_top(source, known, opening);
    if ((thread.frames[i].flags & kFrameTail) == 0 || i == base(source)) break;
  }
  const std::uint64_t site =
      options_.sites ? linked(source, element, source.exit.end - source.last_size) : 0;
  const NodeId node = tree_.child(top.node, known.code, site);
  if (is_call && node != top.node) ++tree_.node(node).calls;
  push(source,
       {.ret = top.ret,
        .bounds = known.bounds,
        .code = known.code,
        .node = node,
        .from = source.exit.end - source.last_size,
        .flags = static_cast<std::uint8_t>(kFrameTail | (known.named ? kFrameNamed : 0) |
                                           (known.form == Form::kSwitch ? kFrameSwitch : 0))},
       opening);
}

// ---- Returns --------------------------------------------------------------------------------

void Engine::go_back(Source& source, const Element& element, std::uint64_t target, bool is_return) {
  Thread& thread = *source.thread;
  search_credit_ = std::min(search_credit_ + kCreditOfCall, kMostCredit);
  if (is_return && (thread.frames.back().flags & kFrameSwitch) != 0 &&
      (source.context.next || !source.context.known)) {
    ++source.quality.switches;
    if (source.context.next) {
      switch_to(source, *source.context.next);
      come_back(source);
    } else {
      lacks_contexts_ = true;
      pop_to(source, 0);
    }
    source.exit.action = Action::kNone;
    if (source.thread->frames.size() <= base(source)) return open_root(source, element, target);
    if ((source.thread->frames.back().flags & kFrameSwitch) == 0)
      return jump(source, element, target);
    return go_back(source, element, target, false);
  }
  const std::size_t low = base(source);
  const std::size_t size = thread.frames.size();
  const auto found = search(source, low, size, target);
  if (!found) return go_unmatched(source, element, target);
  if (!is_return) {
    ++source.quality.branch_returns;
  } else if (*found + 1 == size) {
    ++source.quality.matches;
  } else {
    ++source.quality.deeper;
    report_instant(source, Instant::kUnwind);
  }
  std::size_t left = *found;
  while (left > low && (thread.frames[left].flags & kFrameTail) != 0) --left;
  pop_to(source, left);
  if (left <= low) return open_root(source, element, target);
  show_top(source);
  resume(source, element, target);
}

/// The top frame goes on at `target`.
void Engine::resume(Source& source, const Element& element, std::uint64_t target) {
  if (source.running.bounds.contains(target)) return;
  Frame& top = source.thread->frames.back();
  const Known known = find(source, element, target);
  if (known.named && known.code == top.code) {
    top.bounds = known.bounds;
    return show_top(source);
  }
  if (known.named || (top.flags & kFrameNamed) != 0) replace_top(source, known, Opening::kInferred);
}

void Engine::go_unmatched(Source& source, const Element& element, std::uint64_t target) {
  Thread& thread = *source.thread;
  if (source.context.next) {
    ++source.quality.switches;
    switch_to(source, *source.context.next);
    come_back(source);
    source.exit.action = Action::kNone;
    if (source.thread->frames.size() <= base(source)) return open_root(source, element, target);
    return go_back(source, element, target, true);
  }
  if (thread.barrier > thread.suspects && thread.frames[thread.barrier - 1].ret == target)
    return leave_exception(source, element, target);
  const std::size_t low = base(source);
  const std::size_t size = thread.frames.size();
  if (thread.suspects != 0 && low == thread.suspects) {
    if (const auto found = search(source, 0, thread.suspects, target)) {
      std::size_t left = *found;
      while (left > 0 && (thread.frames[left].flags & kFrameTail) != 0) --left;
      const bool is_barrier = (thread.frames[*found].flags & kFrameBarrier) != 0;
      if (left > 0 && !is_barrier && (thread.frames[left - 1].flags & kFrameBarrier) == 0) {
        ++source.quality.matches;
        ++source.quality.confirmed;
        pop_to(source, left);
        confirm(source);
        return resume(source, element, target);
      }
    }
    drop_suspects(source);
    return go_unmatched(source, element, target);
  }
  if (const auto live = search_live(source, low, size - 1, target)) {
    ++source.quality.unwinds;
    report_instant(source, Instant::kUnwind);
    pop_to(source, *live + 1);
    return show_top(source);
  }
  const bool is_genuine = !options_.follows_call || options_.follows_call(element, target);
  if (size - low <= 1 && is_genuine) {
    ++source.quality.empty;
  } else {
    ++source.quality.mismatch;
  }
  // A return instruction that is used as a branch.
  if (!is_genuine) return move(source, element, target);
  if (size - low > 1) {
    ++source.quality.resyncs;
    report_instant(source, Instant::kResync);
    if (!source.context.known) lacks_contexts_ = true;
  }
  pop_to(source, low);
  open_root(source, element, target);
}

// ---- Exceptions -----------------------------------------------------------------------------

void Engine::enter_exception(Source& source, const Element& element) {
  std::uint64_t back = (element.flags & kElementReturnAddress) != 0 ? element.end : kNoAddress;
  ++source.quality.exceptions;
  if (source.thread == nullptr) set_context(source, element);
  if (source.gap.open()) close_gap(source, element, back);
  const Action action = source.exit.action;
  // Code says where a direct branch went, even if the handler does not return there.
  if (back == kNoAddress && (action == Action::kDirect || action == Action::kCall) &&
      options_.direct_target)
    back = options_.direct_target(source.last);
  Action saved = Action::kNone;
  if (const Thread& thread = *source.thread;
      thread.folded == 0 && thread.barrier > thread.suspects &&
      ((element.flags & kElementTailChain) != 0 ||
       (source.facts.profile == isa::Profile::kM &&
        (action == Action::kReturn || action == Action::kIndirect ||
         action == Action::kExceptionReturn) &&
        thread.frames.size() <= thread.barrier + std::size_t{1}))) {
    // The next handler runs instead of a return.
    const Frame barrier = thread.frames[thread.barrier - 1];
    ++source.quality.exception_returns;
    pop_to(source, thread.barrier - 1);
    show_top(source);
    source.exit.end = barrier.bounds.first;
    source.exit.preferred = barrier.ret;
    saved = barrier.action;
  } else {
    if (back == kNoAddress) {
      // An exception return that no instruction followed is complete, so that returns do not nest.
      const bool is_over = action == Action::kEnter || action == Action::kExceptionReturn;
      saved = is_over ? Action::kNone : action;
    } else if (action != Action::kNone) {
      transfer(source, element, back);
    }
    source.exit.preferred = back;
  }
  source.veneer.inside = false;
  Thread& thread = *source.thread;
  const CodeId code = tree_.code(
      {.kind = CodeKind::kException,
       .name = options_.exception_name ? options_.exception_name(source.id, element.number) : "",
       .start = element.number});
  const bool is_bottom = thread.frames.size() == thread.suspects;
  const NodeId below = is_bottom ? thread.root : thread.frames.back().node;
  const NodeId parent = options_.exceptions_apart ? root_of(source.context.owner) : below;
  const NodeId node = tree_.child(parent, code);
  if (node != parent) ++tree_.node(node).calls;
  const std::size_t size = thread.frames.size();
  push(source,
       {.ret = source.exit.preferred,
        .bounds = {.first = source.exit.end},
        .code = code,
        .node = node,
        .from = source.exit.preferred == kNoAddress ? 0 : source.exit.preferred,
        .below = thread.barrier,
        .flags = kFrameBarrier,
        .action = saved},
       Opening::kCall);
  source.exit.action = Action::kNone;
  if (thread.frames.size() == size) return;
  thread.barrier = static_cast<std::uint32_t>(size + 1);
  source.running.bounds = {};
  source.exit.action = Action::kEnter;
}

/// The handler of a signal has ended: a system call returns to where the signal came.
bool Engine::ends_signal(Source& source, const Element& element, std::uint64_t target) {
  Thread& thread = *source.thread;
  for (std::uint32_t at = thread.barrier; at > thread.suspects; at = thread.frames[at - 1].below) {
    const Frame& signal = thread.frames[at - 1];
    if ((signal.flags & kFrameSignal) == 0) break;
    if (signal.ret != target) continue;
    pop_to(source, at - 1);
    show_top(source);
    if (thread.frames.size() <= base(source)) {
      open_root(source, element, target);
    } else {
      resume(source, element, target);
    }
    return true;
  }
  return false;
}

void Engine::leave_exception(Source& source, const Element& element, std::uint64_t target) {
  ++source.quality.exception_returns;
  source.veneer.inside = false;
  if (source.context.next) {
    ++source.quality.switches;
    switch_to(source, *source.context.next);
    come_back(source);
    source.exit.action = Action::kNone;
  }
  Thread& thread = *source.thread;
  if (thread.barrier <= thread.suspects) {
    // A barrier from before a gap?
    const auto found = search(source, 0, thread.suspects, target);
    if (found && *found > 0 && (thread.frames[*found].flags & kFrameBarrier) != 0 &&
        (thread.frames[*found - 1].flags & kFrameBarrier) == 0) {
      pop_to(source, *found);
      ++source.quality.confirmed;
      confirm(source);
      return resume(source, element, target);
    }
    drop_suspects(source);
    pop_to(source, 0);
    return open_root(source, element, target);
  }
  const std::size_t place = thread.barrier - 1;
  const Frame barrier = thread.frames[place];
  pop_to(source, place);
  show_top(source);
  const bool is_empty = thread.frames.size() <= base(source);
  if (barrier.ret == kNoAddress || is_near(target, barrier.ret)) {
    if (is_empty) return open_root(source, element, target);
    if (barrier.ret != kNoAddress || barrier.action == Action::kNone)
      return resume(source, element, target);
    source.exit.action = barrier.action;
    source.exit.end = barrier.bounds.first;
    return transfer(source, element, target);
  }
  if (ends_signal(source, element, target)) return;
  const Known known = find(source, element, target);
  if (!is_empty && known.named) {
    if (source.running.bounds.contains(target)) return;
    // A program that begins has no callers, and signals rarely interrupt one another.
    std::size_t signals = 0;
    for (std::uint32_t at = thread.barrier; at > thread.suspects && signals < kMostSignals;
         at = thread.frames[at - 1].below)
      signals += (thread.frames[at - 1].flags & kFrameSignal) != 0 ? 1 : kMostSignals;
    if (known.entry && known.form != Form::kStart && signals < kMostSignals) {
      const NodeId parent = thread.frames.back().node;
      const NodeId node = tree_.child(parent, signal_);
      const std::size_t size = thread.frames.size();
      push(source,
           {.ret = barrier.ret,
            .code = signal_,
            .node = node,
            .from = barrier.ret == kNoAddress ? 0 : barrier.ret,
            .below = thread.barrier,
            .flags = kFrameBarrier | kFrameSignal},
           Opening::kHandler);
      if (thread.frames.size() == size) return;
      thread.barrier = static_cast<std::uint32_t>(size + 1);
      return open_root(source, element, target);
    }
    if (const auto live = search_live(source, base(source), thread.frames.size(), target)) {
      ++source.quality.unwinds;
      report_instant(source, Instant::kUnwind);
      pop_to(source, *live + 1);
      return show_top(source);
    }
  }
  ++source.quality.lost_returns;
  if (!source.context.known) lacks_contexts_ = true;
  drop_suspects(source);
  pop_to(source, 0);
  open_root(source, element, target);
}

}  // namespace waymark::stacks
