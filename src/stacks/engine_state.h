// What an Engine keeps for each source.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"

namespace waymark::stacks {

/// How the last range ended, and so what the start of the next one means.
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

enum FrameFlag : std::uint8_t {
  kFrameTail = 1 << 0,     ///< Entered by a tail call: it returns to the caller of the frame below.
  kFrameBarrier = 1 << 1,  ///< An exception; `ret` is where it returns to.
  kFrameSignal = 1 << 2,   ///< With kFrameBarrier.
  kFrameNamed = 1 << 3,
  kFrameSwitch = 1 << 4,  ///< Its return goes to another thread.
};

struct Engine::Frame {
  std::uint64_t ret = kNoAddress;  ///< Where it returns to; kNoAddress: not known.
  // The code of its function, or of the part of it that runs: `span` is the distance of the last
  // byte.  In a barrier, `first` is Source::end at the exception.
  std::uint64_t first = kNoAddress;
  std::uint64_t span = 0;
  CodeId code = 0;
  NodeId node = 0;
  std::uint32_t below = 0;  ///< In a barrier: Thread::barrier without it.
  std::uint8_t flags = 0;
  Action action = Action::kNone;  ///< In a barrier: what the exception came before.
};

struct Engine::Thread {
  TrackId track = 0;
  std::vector<Frame> frames{};
  std::size_t suspects = 0;   ///< So many at the bottom may have ended at a gap.
  std::uint32_t barrier = 0;  ///< 1 + the place of the uppermost barrier; 0: none.
  std::uint64_t folded = 0;   ///< Calls beyond the greatest depth that have not returned.
  NodeId root = kRootNode;    ///< The parent of the lowest frame that is not a suspect.
  // Where it was when another thread went on.
  Action action = Action::kEnter;
  std::uint64_t end = 0;
  std::uint64_t preferred = kNoAddress;
};

/// What is known of an address.
struct Engine::Known {
  std::uint64_t address = kNoAddress;
  std::uint32_t space = 0;
  CodeId code = 0;
  std::uint64_t first = 0;
  std::uint64_t span = 0;
  std::uint64_t link = 0;  ///< The address as its program was linked.
  CodeId called = 0;       ///< The code that a call to this address enters; 0: not asked yet.
  Form form = Form::kPlain;
  bool named = false;
  bool entry = false;  ///< Its function begins here.
};

struct Engine::Source {
  // What each range uses.
  std::uint64_t first = kNoAddress;  ///< The code of the frame that executes.
  std::uint64_t span = 0;
  std::uint64_t own = 0;  ///< Instructions that are not in the tree yet.
  std::uint64_t end = 0;  ///< After the last range.
  Action action = Action::kEnter;
  std::uint8_t last_size = 0;

  TraceId id = 0;
  bool context_known = false;
  GapKind gap = GapKind::kNone;
  Action held = Action::kNone;  ///< The action before the gap.
  SourceFacts facts{};
  NodeId node = kRootNode;  ///< What executes.
  bool named = false;       ///< Whether its function has a name.
  Thread* thread = nullptr;
  Owner owner{};
  std::optional<Owner> next_owner{};  ///< Another thread, which has not returned from the switch.
  std::uint64_t preferred = kNoAddress;  ///< The return address of the last exception.

  // A veneer or an entry of a PLT, which has no frame.
  bool in_veneer = false;
  bool veneer_call = false;
  std::uint64_t veneer_ret = kNoAddress;
  std::uint64_t veneer_site = 0;

  std::unordered_map<std::uint64_t, std::unique_ptr<Thread>> threads{};
  std::vector<std::pair<NodeId, std::uint64_t>> group{};  ///< Instructions that wait for cycles.
  std::uint64_t waiting_cycles = 0;
  bool has_cycles = false;
  std::optional<std::uint64_t> held_time{};  ///< A timestamp after the gap.
  std::uint64_t held_cycles = 0;
  std::uint64_t executed = 0;  ///< Instructions in the tree.
  Quality quality{};

  [[nodiscard]] std::uint64_t position() const { return executed + own; }
  void close_bounds() {
    first = kNoAddress;
    span = 0;
  }
  void open_bounds() {
    first = 0;
    span = std::numeric_limits<std::uint64_t>::max();
  }
};

}  // namespace waymark::stacks
