#include "waymark/stacks/engine.h"

#include <algorithm>
#include <utility>

#include "engine_state.h"
#include "waymark/base/wide.h"
#include "waymark/isa/instruction_run.h"

namespace waymark::stacks {
namespace {

constexpr std::size_t kMostThreads = std::size_t{1} << 16;
constexpr std::size_t kMostGroup = 4096;

/// By executed << 6 | type << 3 | subtype.
constexpr std::array<Action, 128> make_actions() {
  std::array<Action, 128> actions{};
  for (unsigned i = 64; i < 128; ++i) {
    const auto type = static_cast<isa::InstrType>(i >> 3 & 7);
    const auto subtype = static_cast<isa::InstrSubtype>(i & 7);
    if (type != isa::InstrType::kBranch && type != isa::InstrType::kIndirectBranch) continue;
    const bool direct = type == isa::InstrType::kBranch;
    actions[i] = direct ? Action::kDirect : Action::kIndirect;
    switch (subtype) {
      case isa::InstrSubtype::kBranchLink:
        actions[i] = Action::kCall;
        break;
      case isa::InstrSubtype::kV8Return:
      case isa::InstrSubtype::kV7ImpliedReturn:
        actions[i] = Action::kReturn;
        break;
      case isa::InstrSubtype::kV8ExceptionReturn:
        actions[i] = Action::kExceptionReturn;
        break;
      case isa::InstrSubtype::kNone:
        break;
    }
  }
  return actions;
}
constexpr std::array<Action, 128> kActions = make_actions();

/// When n instructions take C cycles, the first k take C*k/n, rounded down.
std::uint64_t share(std::uint64_t cycles, std::uint64_t passed, std::uint64_t all) {
  return passed >= all ? cycles : static_cast<std::uint64_t>(Wide{cycles} * passed / all);
}

}  // namespace

Action action_of(bool executed, isa::InstrType type, isa::InstrSubtype subtype) {
  return kActions[(executed ? 64U : 0U) | (static_cast<unsigned>(type) & 7) << 3 |
                  (static_cast<unsigned>(subtype) & 7)];
}

bool is_of_thread(const Element& element) {
  switch (element.kind) {
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
    case ElementKind::kAddrNacc:
    case ElementKind::kException:
    case ElementKind::kExceptionReturn:
      return true;
    default:
      return false;
  }
}

Quality& Quality::operator+=(const Quality& more) {
  instructions += more.instructions;
  unnamed += more.unnamed;
  calls += more.calls;
  tail_calls += more.tail_calls;
  matches += more.matches;
  branch_returns += more.branch_returns;
  deeper += more.deeper;
  empty += more.empty;
  mismatch += more.mismatch;
  resyncs += more.resyncs;
  unwinds += more.unwinds;
  switches += more.switches;
  exceptions += more.exceptions;
  exception_returns += more.exception_returns;
  lost_returns += more.lost_returns;
  gaps += more.gaps;
  confirmed += more.confirmed;
  missing_code += more.missing_code;
  folded += more.folded;
  pathless += more.pathless;
  return *this;
}

Engine::Engine(Options options)
    : options_(std::move(options)), tree_(options_.most_nodes), known_(std::size_t{1} << 13) {
  options_.most_frames = std::max(options_.most_frames, std::size_t{8});
  signal_ = tree_.code({.kind = CodeKind::kSignal});
  lost_callers_ = tree_.code({.kind = CodeKind::kLostCallers});
}

Engine::~Engine() = default;

Engine::Source& Engine::source(TraceId id) {
  auto& place = sources_[id];
  if (place == nullptr) {
    place = std::make_unique<Source>();
    place->id = id;
  }
  return *place;
}

void Engine::set_source(TraceId id, const SourceFacts& facts) { source(id).facts = facts; }

Quality Engine::quality(TraceId id) const {
  return sources_[id] == nullptr ? Quality{} : sources_[id]->quality;
}

Quality Engine::quality() const {
  Quality sum;
  for (const auto& source : sources_)
    if (source != nullptr) sum += source->quality;
  return sum;
}

std::vector<TraceId> Engine::sources() const {
  std::vector<TraceId> ids;
  for (const auto& source : sources_)
    if (source != nullptr && source->quality.instructions + source->quality.missing_code != 0)
      ids.push_back(source->id);
  return ids;
}

bool Engine::lacks_contexts() const { return lacks_contexts_; }

// ---- Elements -------------------------------------------------------------------------------

void Engine::observe(std::span<const Element> elements) {
  const Element* at = elements.data();
  const Element* const end = at + elements.size();
  Source* known = nullptr;
  while (at != end) {
    if (known == nullptr || known->id != at->trace_id) known = &source(at->trace_id);
    Source& now = *known;
    if (options_.ranges) {
      observe_one(now, *at++);
      continue;
    }
    // The usual case: ranges that stay in their function.
    const Element* const begin = at;
    if (now.exit.action <= Action::kDirect) {
      const Bounds bounds = now.running.bounds;
      std::uint64_t own = 0;
      at = pass_ranges(at, end, now.id, bounds, now.context.until, own);
      now.own += own;
    }
    if (at == begin) {
      observe_one(now, *at++);
      continue;
    }
    const Element& last = at[-1];
    now.exit.end = last.end;
    now.last_size = last.last_size;
    now.exit.action = action_of(last);
    // Otherwise the next range of this source shows the target.
    if (at == end || at->kind != ElementKind::kInstrRange || at->trace_id != now.id)
      keep_direct(now, last);
  }
}

void Engine::observe_one(Source& source, const Element& element) {
  if (element.index >= source.context.until && is_of_thread(element)) [[unlikely]]
    take_turn(source, element);
  if (element.kind != ElementKind::kInstrRange) return observe_other(source, element);
  enter(source, element);
  if (source.running.bounds.contains(element.end - 1) || !leaves_function(source, element))
    return execute(source, element);
  Element range = element;
  do {
    Element rest;
    if (!cut(source, range, rest)) break;
    execute(source, range);
    enter(source, rest);
    range = rest;
  } while (leaves_function(source, range));
  execute(source, range);
}

/// What brought execution to the start of a range.
void Engine::enter(Source& source, const Element& range) {
  if (source.exit.action > Action::kDirect || !source.running.bounds.contains(range.start))
    begin(source, range);
}

void Engine::execute(Source& source, const Element& range) {
  source.own += range.count;
  source.exit.end = range.end;
  source.last_size = range.last_size;
  source.exit.action = action_of(range);
  keep_direct(source, range);
  if (options_.ranges) count_range(source, range);
  if ((range.flags & kElementHasCycleCount) != 0) count_cycles(source, range.cycle_count);
}

/// Whether a range goes on from the code where it begins into other code.
bool Engine::leaves_function(const Source& source, const Element& range) {
  return options_.places && find(source, range, range.start).end < range.end;
}

/// Leaves in `range` what is in the code where it begins; the others go to `rest`.  False: which
/// instructions these are is not known.
bool Engine::cut(const Source& source, Element& range, Element& rest) {
  const auto read = [&](std::uint64_t address) -> std::optional<std::uint16_t> {
    if (!options_.halfword) return std::nullopt;
    return options_.halfword(range, address);
  };
  const auto run =
      isa::instructions_below(range.isa, range.start, find(source, range, range.start).end, read);
  if (!run || run->count >= range.count || run->end >= range.end) return false;
  rest = range;
  rest.start = run->end;
  rest.count -= run->count;
  range.end = run->end;
  range.count = run->count;
  range.flags &= static_cast<decltype(range.flags)>(~(kElementExecuted | kElementHasCycleCount));
  range.last_type = isa::InstrType::kOther;
  range.last_subtype = isa::InstrSubtype::kNone;
  return true;
}

void Engine::observe_other(Source& source, const Element& element) {
  const bool has_cycles = (element.flags & kElementHasCycleCount) != 0;
  switch (element.kind) {
    case ElementKind::kNoSync:
    case ElementKind::kTraceOn:
    case ElementKind::kUnknown: {
      const bool filtered = element.kind == ElementKind::kTraceOn &&
                            static_cast<TraceOnReason>(element.reason) == TraceOnReason::kNormal;
      open_gap(source, filtered ? GapKind::kFiltered : GapKind::kLoss);
      set_context(source, element);
      break;
    }
    case ElementKind::kEndOfTrace:
      open_gap(source, GapKind::kLoss);
      break;
    case ElementKind::kPeContext:
      set_context(source, element);
      break;
    case ElementKind::kInstrRangeNoPath:
      source.quality.pathless += element.count;
      open_gap(source, GapKind::kLoss);
      if (has_cycles) count_cycles(source, element.cycle_count);
      break;
    case ElementKind::kAddrNacc:
      ++source.quality.missing_code;
      open_gap(source, GapKind::kMissingCode);
      break;
    case ElementKind::kAddrUnknown:
      open_gap(source, GapKind::kLoss);
      break;
    case ElementKind::kException:
      enter_exception(source, element);
      if (has_cycles) count_cycles(source, element.cycle_count);
      break;
    case ElementKind::kMemTrans:
      take_transaction(source, static_cast<MemTransType>(element.reason));
      break;
    case ElementKind::kExceptionReturn:
      if (source.exit.action != Action::kGap && source.exit.action != Action::kEnter)
        source.exit.action = Action::kExceptionReturn;
      if (has_cycles) count_cycles(source, element.cycle_count);
      break;
    case ElementKind::kTimestamp:
    case ElementKind::kCycleCount:
    case ElementKind::kEvent:
      give_time(source, element);
      break;
    default:
      break;
  }
}

// A transaction that fails undoes its calls: execution goes on after the instruction that began it.
void Engine::take_transaction(Source& source, MemTransType type) {
  if (source.thread == nullptr) return;
  Thread& thread = *source.thread;
  switch (type) {
    case MemTransType::kStart:
      thread.transaction = static_cast<std::uint32_t>(thread.frames.size()) + 1;
      return;
    case MemTransType::kCommit:
    case MemTransType::kInit:
      thread.transaction = 0;
      return;
    case MemTransType::kFail:
      break;
  }
  const std::uint32_t began = std::exchange(thread.transaction, 0);
  if (source.gap.open()) return;
  // The last branch led to where nothing ran.
  source.exit.action = Action::kNone;
  // It began before the trace, or has left the function that began it.
  if (began == 0 || thread.frames.size() + 1 < began) return open_gap(source, GapKind::kFiltered);
  if (thread.frames.size() + 1 == began) return;
  pop_to(source, began - 1);
  show_top(source);
}

void Engine::skip(TraceId id) {
  Source& source = this->source(id);
  if (source.thread != nullptr) open_gap(source, GapKind::kSwitch);
}

void Engine::give_time(Source& source, const Element& element) {
  const bool is_time = element.kind == ElementKind::kTimestamp;
  if ((element.flags & kElementHasCycleCount) != 0 &&
      (!is_time || !source.facts.timestamps_repeat_cycles))
    count_cycles(source, element.cycle_count);
  if (!is_time || (element.flags & kElementTimeIsPartial) != 0 || options_.sink == nullptr) return;
  if (source.gap.open()) {
    source.gap.time = element.timestamp;
  } else {
    options_.sink->on_timestamp(source.id, source.position(), element.timestamp);
  }
}

void Engine::finish() {
  if (finished_) return;
  finished_ = true;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    make_direct_call(*source);
    flush(*source);
    Thread* const last = source->thread;
    for (const auto& [key, thread] : source->threads) {
      source->thread = thread.get();
      drop_suspects(*source);
      pop_to(*source, 0);
    }
    source->thread = last;
  }
}

void Engine::begin(Source& source, const Element& range) {
  if (source.gap.open()) close_gap(source, range, range.start);
  if (source.thread == nullptr) set_context(source, range);
  transfer(source, range, range.start);
}

// ---- Sums -----------------------------------------------------------------------------------

void Engine::flush(Source& source) {
  if (source.own == 0) return;
  tree_.node(source.running.node).instructions += source.own;
  source.executed += source.own;
  source.quality.instructions += source.own;
  if (!source.running.named) source.quality.unnamed += source.own;
  if (source.waiting.instructions.size() < kMostGroup) {
    source.waiting.instructions.emplace_back(source.running.node, source.own);
  } else if (source.waiting.counted) {
    source.waiting.instructions.back().second += source.own;
  }
  source.own = 0;
}

void Engine::count_range(Source& source, const Element& range) {
  const std::uint64_t link = linked(source, range, range.start);
  tree_.add_range(
      {.node = source.running.node, .start = link, .end = link + (range.end - range.start)},
      range.count);
}

void Engine::count_cycles(Source& source, std::uint64_t cycles) {
  flush(source);
  source.waiting.counted = true;
  if (options_.sink != nullptr) {
    if (source.gap.open()) {
      source.gap.cycles += cycles;
    } else {
      options_.sink->on_cycles(source.id, source.position(), cycles);
    }
  }
  source.waiting.cycles += cycles;
  std::uint64_t all = 0;
  for (const auto& [node, count] : source.waiting.instructions) all += count;
  if (all == 0) return;
  std::uint64_t passed = 0;
  std::uint64_t given = 0;
  for (const auto& [node, count] : source.waiting.instructions) {
    passed += count;
    const std::uint64_t due = share(source.waiting.cycles, passed, all);
    tree_.node(node).cycles += due - given;
    given = due;
  }
  source.waiting.clear();
}

// ---- Gaps -----------------------------------------------------------------------------------

void Engine::keep_direct(Source& source, const Element& range) {
  if (source.exit.action == Action::kCall || source.exit.action == Action::kDirect)
    source.last = range;
}

// A direct call was made although its callee is not traced.
void Engine::make_direct_call(Source& source) {
  const Action action = source.exit.action;
  if ((action != Action::kCall && action != Action::kDirect) || source.gap.open() ||
      source.thread == nullptr || !options_.direct_target)
    return;
  const std::uint64_t target = options_.direct_target(source.last);
  if (target != kNoAddress) transfer(source, source.last, target);
}

void Engine::open_gap(Source& source, GapKind kind) {
  make_direct_call(source);
  flush(source);
  if (kind != GapKind::kSwitch && kind != GapKind::kMissingCode) source.waiting.clear();
  if (!source.gap.open()) {
    source.gap = {.kind = kind, .action = source.exit.action};
  } else if (source.gap.kind == GapKind::kSwitch || kind == GapKind::kLoss ||
             (source.gap.kind == GapKind::kFiltered && kind == GapKind::kMissingCode)) {
    source.gap.kind = kind;
  }
  source.exit.action = Action::kGap;
}

/// Whether nothing happened in the gap that concerns the stack.
bool Engine::goes_on(Source& source, std::uint64_t target) {
  Thread& thread = *source.thread;
  if (source.gap.kind == GapKind::kLoss || thread.frames.empty()) return false;
  // The callee of the call before the gap was not traced, and has returned.
  if (const Frame& called = thread.frames.back();
      target == source.exit.end && called.ret == target && source.gap.action == Action::kNone &&
      (called.flags & (kFrameBarrier | kFrameTail)) == 0 && thread.frames.size() > base(source)) {
    pop_to(source, thread.frames.size() - 1);
    show_top(source);
    source.exit.action = Action::kNone;
    return true;
  }
  const bool is_call = source.gap.action == Action::kCall;
  if (target == source.exit.end && (is_call || (source.gap.action == Action::kNone &&
                                                source.gap.kind != GapKind::kMissingCode))) {
    source.exit.action = Action::kNone;
    return true;
  }
  // The handler of an exception is not traced, or its code is missing.
  Frame& top = thread.frames.back();
  if (source.gap.action == Action::kEnter && (top.flags & kFrameBarrier) != 0 &&
      top.ret == target && target != kNoAddress) {
    source.exit.action = Action::kExceptionReturn;
    return true;
  }
  if (source.gap.kind == GapKind::kSwitch && (top.flags & kFrameBarrier) == 0 &&
      top.bounds.contains(target) && (top.flags & kFrameNamed) != 0) {
    source.exit.action = Action::kNone;
    return true;
  }
  return false;
}

void Engine::close_gap(Source& source, const Element& element, std::uint64_t target) {
  if (source.thread == nullptr) set_context(source, element);
  const GapKind kind = source.gap.kind;
  const bool same = goes_on(source, target);
  source.gap.kind = GapKind::kNone;
  if (same) {
    come_back(source);
  } else {
    if (!source.thread->frames.empty() && kind != GapKind::kSwitch) {
      ++source.quality.gaps;
      report_instant(source, kind == GapKind::kMissingCode ? Instant::kMissingCode : Instant::kGap);
    }
    suspect_all(source);
    if (options_.sink != nullptr && kind != GapKind::kSwitch)
      options_.sink->on_gap(source.id, source.position());
    source.veneer.inside = false;
    if (recognise(source, element, target)) {
      if (kind != GapKind::kSwitch) ++source.quality.confirmed;
      source.exit.action = Action::kNone;
    } else {
      source.running.bounds = {};
      source.exit.action = Action::kEnter;
      const NodeId root = root_of(source.context.owner);
      source.thread->root = kind == GapKind::kMissingCode ? tree_.child(root, lost_callers_) : root;
    }
  }
  if (options_.sink != nullptr && source.gap.time)
    options_.sink->on_timestamp(source.id, source.position(), *source.gap.time);
  if (options_.sink != nullptr && source.gap.cycles != 0)
    options_.sink->on_cycles(source.id, source.position(), source.gap.cycles);
  source.gap = {};
}

/// Whether the suspected frames explain that execution goes on at `target`.
bool Engine::recognise(Source& source, const Element& element, std::uint64_t target) {
  Thread& thread = *source.thread;
  std::vector<Frame>& frames = thread.frames;
  if (frames.empty()) return false;
  Frame& top = frames.back();
  if ((top.flags & kFrameBarrier) == 0 && (top.flags & kFrameNamed) != 0) {
    const Known known = find(source, element, target);
    if (known.named && known.code == top.code) {
      top.bounds = known.bounds;
      confirm(source);
      return true;
    }
  }
  const auto found = search(source, 0, frames.size(), target);
  if (!found) return false;
  std::size_t size = *found;
  while (size > 0 && (frames[size].flags & kFrameTail) != 0) --size;
  if (size == 0) return false;
  pop_to(source, size);
  confirm(source);
  return !thread.frames.empty() && (thread.frames.back().flags & kFrameBarrier) == 0;
}

void Engine::suspect_all(Source& source) {
  Thread& thread = *source.thread;
  drop_suspects(source);
  if (options_.sink != nullptr && !std::exchange(thread.away, false)) {
    for (std::size_t i = thread.frames.size(); i-- > 0;)
      options_.sink->on_leave(thread.track, source.position());
    // Opening them again takes as long.
    if (thread.frames.size() > search_credit_) {
      thread.suspects = thread.frames.size();
      drop_suspects(source);
    } else {
      search_credit_ -= thread.frames.size();
    }
  }
  thread.suspects = thread.frames.size();
  thread.folded = 0;
}

void Engine::drop_suspects(Source& source) {
  Thread& thread = *source.thread;
  if (thread.suspects == 0) return;
  const auto gone = static_cast<std::uint32_t>(thread.suspects);
  thread.frames.erase(thread.frames.begin(), thread.frames.begin() + gone);
  frames_ -= gone;
  thread.suspects = 0;
  const auto lower = [gone](std::uint32_t& place) { place = place > gone ? place - gone : 0; };
  lower(thread.barrier);
  for (Frame& frame : thread.frames)
    if ((frame.flags & kFrameBarrier) != 0) lower(frame.below);
}

void Engine::confirm(Source& source) {
  Thread& thread = *source.thread;
  thread.suspects = 0;
  for (Frame& frame : thread.frames) frame.opening = Opening::kResumed;
  if (options_.sink != nullptr) {
    for (const Frame& frame : thread.frames)
      options_.sink->on_enter(thread.track, source.position(), frame.code, Opening::kResumed);
  }
  show_top(source);
}

// ---- Threads --------------------------------------------------------------------------------

Owner Engine::owner_of(Source& source, const Element& element) const {
  const bool valid = (element.flags & (kElementContextIdValid | kElementVmidValid)) != 0;
  if (options_.owner) {
    source.context.known = true;
    const Owner owner = options_.owner(element);
    source.context.until = owner.until;
    return owner;
  }
  if (!valid) return source.context.owner;
  source.context.known = true;
  return {.thread = std::uint64_t{element.vmid} << 32 | element.context_id};
}

void Engine::set_context(Source& source, const Element& element) {
  const bool was_known = source.context.known;
  const Owner owner = owner_of(source, element);
  if (source.thread == nullptr) {
    switch_to(source, owner);
    return;
  }
  if (owner.thread == source.context.owner.thread) {
    if (!source.context.next) source.context.owner.space = owner.space;
    source.context.next.reset();
    return;
  }
  if (!was_known) {
    // The same thread, whose number is known now.
    auto self = source.threads.extract(source.context.owner.thread);
    self.key() = owner.thread;
    source.threads.insert(std::move(self));
    source.context.owner = owner;
    return;
  }
  // A kernel says which thread comes before it goes there.
  const std::vector<Frame>& frames = source.thread->frames;
  const bool in_kernel = source.thread->barrier != 0 ||
                         ((element.flags & kElementElValid) != 0 && element.exception_level != 0);
  if (in_kernel && !source.gap.open() && !frames.empty() &&
      (frames.back().flags & kFrameNamed) != 0) {
    if (!source.context.next) source.context.owner.space = owner.space;
    source.context.next = owner;
    return;
  }
  leave_thread(source, owner);
}

/// The place in the trace says that another thread may run, and since when it does.
void Engine::take_turn(Source& source, const Element& element) {
  if (source.thread == nullptr || !source.context.known) return set_context(source, element);
  const Owner owner = owner_of(source, element);
  if (owner.thread == source.context.owner.thread) {
    source.context.owner.space = owner.space;
  } else {
    leave_thread(source, owner);
  }
}

/// The source goes on with another thread.
void Engine::leave_thread(Source& source, const Owner& owner) {
  ++source.quality.switches;
  make_direct_call(source);
  switch_to(source, owner);
  if (!source.thread->frames.empty()) open_gap(source, GapKind::kSwitch);
}

// What does not run has no open frames.
void Engine::go_away(Source& source) {
  Thread& thread = *source.thread;
  const std::size_t open = thread.frames.size() - thread.suspects;
  // Opening them again takes as long.
  if (options_.sink == nullptr || thread.away || open == 0 || open > search_credit_) return;
  search_credit_ -= open;
  thread.away = true;
  for (std::size_t i = 0; i < open; ++i) options_.sink->on_leave(thread.track, source.position());
}

void Engine::come_back(Source& source) {
  Thread& thread = *source.thread;
  if (!std::exchange(thread.away, false) || options_.sink == nullptr) return;
  for (std::size_t i = thread.suspects; i < thread.frames.size(); ++i) {
    thread.frames[i].opening = Opening::kResumed;
    options_.sink->on_enter(thread.track, source.position(), thread.frames[i].code,
                            Opening::kResumed);
  }
}

NodeId Engine::root_of(const Owner& owner) {
  if (!options_.root_name) return kRootNode;
  const auto [at, is_new] = roots_.try_emplace({owner.thread, owner.space.bits()}, kRootNode);
  if (is_new) {
    if (std::string name = options_.root_name(owner); !name.empty())
      at->second =
          tree_.child(kRootNode, tree_.code({.kind = CodeKind::kProcess, .name = std::move(name)}));
  }
  return at->second;
}

void Engine::switch_to(Source& source, Owner owner) {
  flush(source);
  source.context.next.reset();
  source.veneer.inside = false;
  if (source.thread != nullptr) {
    Thread& old = *source.thread;
    old.exit = source.exit;
    old.exit.action = source.last_action();
    go_away(source);
  }
  source.context.owner = owner;
  const std::uint64_t key =
      source.threads.size() < kMostThreads || source.threads.contains(owner.thread) ? owner.thread
                                                                                    : 0;
  auto& place = source.threads[key];
  if (place == nullptr) {
    place = std::make_unique<Thread>();
    place->track = tracks_++;
    place->root = root_of(owner);
    if (options_.sink != nullptr) options_.sink->on_track(place->track, source.id, owner.thread);
  }
  source.thread = place.get();
  place->saved.reset();
  if (options_.sink != nullptr)
    options_.sink->on_switch(source.id, place->track, source.position());
  source.last_action() = place->exit.action;
  source.exit.end = place->exit.end;
  source.exit.preferred = place->exit.preferred;
  show_top(source);
}

}  // namespace waymark::stacks
