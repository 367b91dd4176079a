// The state of an Engine for each source.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"

namespace waymark::stacks {

/// How a range ended, and so what the start of the next one means.
enum class Action : std::uint8_t {
  kNone,    ///< No branch was taken.
  kDirect,  ///< A direct branch.
  kCall,
  kReturn,
  kIndirect,
  kExceptionReturn,
  kEnter,  ///< Nothing is open: what comes is a root, or a handler.
  kGap,    ///< See Source::gap.
};

Action action_of(bool executed, isa::InstrType type, isa::InstrSubtype subtype);
inline Action action_of(const Element& range) {
  return action_of((range.flags & kElementExecuted) != 0, range.last_type, range.last_subtype);
}

/// Addresses from `first` to `first + span`; by default none that code has.
struct Bounds {
  std::uint64_t first = kNoAddress;
  std::uint64_t span = 0;

  static constexpr Bounds all() { return {0, std::numeric_limits<std::uint64_t>::max()}; }
  [[nodiscard]] bool contains(std::uint64_t address) const { return address - first <= span; }
  /// Whether all of a range is in them.
  [[nodiscard]] bool contains(const Element& range) const {
    return contains(range.start) && contains(range.end - 1);
  }
};

/// The addresses of the function that is at `address`, as the target has them.
inline Bounds bounds_of(const program::Place& place, const program::Function& function,
                        std::uint64_t address) {
  return {.first = address - (place.address - function.start),
          .span = function.last - function.start};
}

/// The usual case: ranges of a source within the bounds and before `until`, none of which but the
/// last one ends
/// with a branch that may leave them.  From `at` on, where they end; `own` gets their instructions.
inline const Element* pass_ranges(const Element* at, const Element* end, TraceId id,
                                  const Bounds& bounds, TraceIndex until, std::uint64_t& own) {
  for (; at != end; ++at) {
    if (at->kind != ElementKind::kInstrRange || at->trace_id != id ||
        (at->flags & kElementHasCycleCount) != 0 || !bounds.contains(*at) || at->index >= until)
      break;
    own += at->count;
    if ((at->flags & kElementExecuted) != 0 && (at->last_subtype != isa::InstrSubtype::kNone ||
                                                at->last_type == isa::InstrType::kIndirectBranch))
      return at + 1;
  }
  return at;
}

/// How a source or a thread left the last range.
struct Exit {
  Action action = Action::kEnter;
  std::uint64_t end = 0;                 ///< After the range.
  std::uint64_t preferred = kNoAddress;  ///< The return address of the last exception.
};

enum FrameFlag : std::uint8_t {
  kFrameTail = 1 << 0,     ///< Entered by a tail call: it returns to the caller of the frame below.
  kFrameBarrier = 1 << 1,  ///< An exception; `ret` is where it returns to.
  kFrameSignal = 1 << 2,   ///< With kFrameBarrier.
  kFrameNamed = 1 << 3,
  kFrameSwitch = 1 << 4,  ///< Its return goes to another thread.
};

struct Engine::Frame {
  std::uint64_t ret = kNoAddress;  ///< Where it returns to; kNoAddress: not known.
  /// The code of its function, or of the part of it that runs.  In a barrier, `first` is Exit::end
  /// at the exception.
  Bounds bounds{};
  CodeId code = 0;
  NodeId node = 0;
  std::uint64_t from = 0;   ///< The branch that entered it, or what the exception interrupted.
  std::uint32_t below = 0;  ///< In a barrier: Thread::barrier without it.
  std::uint8_t flags = 0;
  Opening opening = Opening::kCall;
  Action action = Action::kNone;  ///< In a barrier: what the exception came before.
};

struct Engine::Thread {
  TrackId track = 0;
  std::vector<Frame> frames{};
  std::size_t suspects = 0;  ///< The number of frames at the bottom that may have ended at a gap.
  bool away = false;  ///< Another thread runs, and the sink knows that this one left its frames.
  std::uint32_t barrier = 0;      ///< 1 + the place of the uppermost barrier; 0: none.
  std::uint64_t folded = 0;       ///< Calls beyond the greatest depth that have not returned.
  std::uint32_t transaction = 0;  ///< 1 + the number of frames where it began; 0: none is open.
  NodeId root = kRootNode;        ///< The parent of the lowest frame that is not a suspect.
  Exit exit{};                    ///< When another thread went on.
  /// The result of save(), while the thread has not run since.
  std::shared_ptr<const SavedThread> saved{};
};

/// Known facts about an address.
struct Engine::Known {
  std::uint64_t address = kNoAddress;
  TaskId space{};
  CodeId code = 0;
  Bounds bounds{};
  std::uint64_t link = 0;          ///< The address as its program was linked.
  std::uint64_t end = kNoAddress;  ///< Where other code begins: see image::CodeAt.
  CodeId called = 0;  ///< The code that a call to this address enters; 0: not asked yet.
  Form form = Form::kPlain;
  bool named = false;
  bool entry = false;  ///< Its function begins here.
};

struct Engine::Source {
  /// The code that executes.
  struct Running {
    Bounds bounds{};  ///< Where it goes on without a change of the stack.
    NodeId node = kRootNode;
    bool named = false;  ///< Whether its function has a name.
  };

  struct Gap {
    GapKind kind = GapKind::kNone;
    Action action = Action::kNone;        ///< That before the gap.
    std::optional<std::uint64_t> time{};  ///< A timestamp after the gap.
    std::uint64_t cycles = 0;             ///< Counted after the gap.
    [[nodiscard]] bool open() const { return kind != GapKind::kNone; }
  };

  /// Whose instructions these are.
  struct Context {
    bool known = false;
    TraceIndex until = kNoIndex;  ///< The last answer to Options::owner holds up to here.
    Owner owner{};
    std::optional<Owner> next{};  ///< Another thread, which has not returned from the switch.
  };

  /// A veneer or an entry of a PLT, which has no frame.
  struct Veneer {
    bool inside = false;
    bool called = false;             ///< By a call that `ret` and `site` are about.
    std::uint64_t ret = kNoAddress;  ///< Where the call returns to.
    std::uint64_t site = 0;
    std::uint64_t from = 0;  ///< The address of the call.
  };

  /// Instructions that wait for cycles, and cycles that wait for instructions.
  struct Waiting {
    std::vector<std::pair<NodeId, std::uint64_t>> instructions{};
    std::uint64_t cycles = 0;
    bool counted = false;  ///< The source counts cycles.

    void clear() {
      instructions.clear();
      cycles = 0;
    }
  };

  // The fields that each range uses.
  Running running{};
  std::uint64_t own = 0;  ///< Instructions that are not in the tree yet.
  Exit exit{};
  std::uint8_t last_size = 0;

  /// The last range that ended with a direct branch: its end, its last instruction and its context.
  Element last{};
  TraceId id = 0;
  SourceFacts facts{};
  Gap gap{};
  Context context{};
  Veneer veneer{};
  Waiting waiting{};
  Thread* thread = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<Thread>> threads{};
  std::uint64_t executed = 0;  ///< Instructions in the tree.
  bool left_out = false;       ///< See leave_out().
  Quality quality{};

  /// A copy without threads.
  [[nodiscard]] Source like() const {
    return {.running = running,
            .own = own,
            .exit = exit,
            .last_size = last_size,
            .last = last,
            .id = id,
            .facts = facts,
            .gap = gap,
            .context = context,
            .veneer = veneer,
            .waiting = waiting,
            .executed = executed,
            .left_out = left_out,
            .quality = quality};
  }
  [[nodiscard]] std::uint64_t position() const { return executed + own; }
  /// How the last range ended that was traced.
  [[nodiscard]] Action& last_action() { return gap.open() ? gap.action : exit.action; }
};

}  // namespace waymark::stacks
