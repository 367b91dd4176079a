// Walks a program as a core would: block after block, with random outcomes, exceptions, returns and
// changes of context.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "waymark/synth/program.h"
#include "waymark/synth/random.h"

namespace waymark::synth {

/// The state of the PE that trace packets describe.
struct PeContext {
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint8_t el = 0;  ///< M profile: 0 in Thread mode, 3 in Handler mode, as an ETMv4 states it.
  bool secure = false;
  bool a64 = false;
  friend bool operator==(const PeContext&, const PeContext&) = default;
};

/// Why an exception was taken; each protocol has its own number for it.  Not for the M profile.
enum class ExceptionCause : std::uint8_t { kIrq, kFiq, kCall, kUndefined, kDataFault, kFetchFault };

/// The context ID of the first process, where the options do not name them; the others follow.
inline constexpr std::uint32_t kFirstProcess = 0x100;

struct ExecutionOptions {
  std::uint64_t seed = 1;
  std::uint64_t exception_mean = 0;  ///< The mean number of blocks between two exceptions; 0: none.
  std::uint32_t context_ids = 1;     ///< Processes that the kernel switches between; at least 1.
  std::uint32_t vmids = 1;
  std::vector<std::uint32_t> processes{};  ///< Context IDs, in place of `context_ids`.
  std::vector<std::uint32_t> machines{};   ///< VMIDs, in place of made-up ones.
  std::uint8_t el = 0;  ///< Where the program runs; handlers run at EL1, or there if it is higher.
  bool secure = false;
  /// Exceptions are those of the M profile, with handlers by vector.
  bool m_profile = false;
  /// M profile with the Security Extension: some exceptions have handlers in Secure state.  Without
  /// it, the core is always Secure.
  bool security_extension = false;
  /// Determines the usual direction of conditional branches for which the program does not state
  /// it.
  std::uint64_t habits = 0;
};

/// How much of the recorded behaviour of a branch has been repeated.
struct Replay {
  const Behaviour* recorded = nullptr;
  std::uint64_t run = 0;  ///< The run of the program to which the next two belong.
  std::size_t outcomes_used = 0;
  std::size_t route_used = 0;

  /// Whether everything recorded has happened.
  [[nodiscard]] bool used_up() const;
  /// The next outcome.
  bool take();
};

/// The instructions from `start` to the next waypoint.  Members that each step uses come first.
struct alignas(64) CodeBlock {
  std::uint64_t start = 0;
  std::uint64_t end = 0;                    ///< After the last instruction.
  CodeBlock* next[2] = {nullptr, nullptr};  ///< The blocks after it, not taken and taken.
  // For the model:
  std::uint64_t chance = 0;      ///< The branch is taken below this value, of 2^32.
  std::uint32_t trips_left = 0;  ///< kLoop: 0 means that a new count must be drawn.
  std::uint32_t trip_from = 0;
  std::uint32_t trip_span = 1;  ///< The number of possible counts.
  std::uint16_t loops = 0;      ///< 1 for kLoop, else 0.
  bool plain = false;           ///< No link and no indirect branch: every next block is in `next`.
  bool complete = false;        ///< Ends in a waypoint; else nothing can be executed at `end`.
  // A second cache line.
  std::uint32_t count = 0;  ///< Instructions.
  isa::Isa isa = isa::Isa::kA64;
  isa::Isa next_isa = isa::Isa::kA64;  ///< After a taken branch.
  isa::InstrType type = isa::InstrType::kOther;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;
  std::uint64_t target = 0;  ///< For a direct branch.
  const std::vector<Place>* targets = nullptr;
  Behaviour::Kind kind = Behaviour::Kind::kChance;
  bool conditional = false;
  bool link = false;
  bool calls_supervisor = false;  ///< Not complete, because the last instruction is an SVC.
  std::uint8_t last_size = 0;
  Replay* replay = nullptr;

  [[nodiscard]] bool is_direct() const { return type == isa::InstrType::kBranch; }
  [[nodiscard]] bool is_indirect() const { return type == isa::InstrType::kIndirectBranch; }
  [[nodiscard]] std::uint64_t last_instruction() const { return end - last_size; }
};

enum class StepKind : std::uint8_t {
  kBlock,      ///< Instructions from `start` to `end`, the last a waypoint.
  kPart,       ///< Instructions from `start` to `end`, which an exception then interrupted.
  kException,  ///< Taken before `start`, the preferred return address; `next` is its handler.
};

/// The next action of the core.
struct Step {
  StepKind kind = StepKind::kBlock;
  bool taken = false;             ///< The waypoint's condition passed.
  bool exception_return = false;  ///< The waypoint returned from an exception.
  bool context_changed = false;   ///< `context()` holds from `next` on.
  /// An exception return, and the exception that is taken in its place: M profile only.
  bool tail_chained = false;
  ExceptionCause cause = ExceptionCause::kIrq;
  std::uint32_t vector = 0;       ///< M profile: the exception, as the IPSR numbers it.
  isa::Isa isa = isa::Isa::kA64;  ///< At `start`.
  std::uint32_t count = 0;        ///< Instructions.
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  Place next;                        ///< Where execution continues.
  const CodeBlock* block = nullptr;  ///< For kBlock and kPart; valid until the next step.

  /// The exception follows in the next step, and nothing can be between them.
  [[nodiscard]] bool chains() const { return exception_return && tail_chained; }
};

/// Where a tail-chained exception seems to happen; etmv4-ete.md 4.6b.
inline constexpr Place kTailChain{0xFFFF'FFFE, isa::Isa::kT32};

/// Never ends, unless the program has a log.  One owner; not thread safe; several may walk one
/// program, which must outlive them.
class Execution {
 public:
  /// `waypoints` says what the trace unit counts as a waypoint.  The program must have an entry.
  Execution(const Program& program, const isa::Options& waypoints, const ExecutionOptions& options);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// The next step, which exists if it has not ended().
  void next(Step& step);
  /// The log of the program was executed.
  [[nodiscard]] bool ended() const { return logged_.ended; }

  /// The same for the common case, a block for which only the outcome varies. nullptr: the case is
  /// different; call next(). `chance` gets random bits, whose low ones may be used again.
  const CodeBlock* next_plain(bool& taken, std::uint64_t& chance) {
    CodeBlock& block = *current_;
    if (!block.plain || until_exception_ <= 1 || exception_.due) return nullptr;
    chance = random_.next();
    taken = decide(block, chance);
    CodeBlock* follows = block.next[taken ? 1 : 0];
    if (follows == nullptr) [[unlikely]]
      follows = link(block, taken);
    --until_exception_;
    current_ = follows;
    return &block;
  }

  /// Stops interrupts until resume_exceptions(). One that is due still happens, and so do faults.
  void hold_exceptions();
  void resume_exceptions();

  /// The context of the next instruction.
  [[nodiscard]] const PeContext& context() const { return context_; }
  [[nodiscard]] Place place() const {
    return exception_.due ? exception_.at : Place{current_->start, current_->isa};
  }

  /// The block at `place`, for walks that did not happen (speculation).  Valid during the lifetime
  /// of this object.
  const CodeBlock& block_at(Place place) { return *find(place); }
  /// The address of instruction `count` of the block; 0 is its first.
  [[nodiscard]] std::uint64_t cut(const CodeBlock& block, std::uint32_t count) const;
  /// The address after the instruction of the block at `address`.
  [[nodiscard]] std::uint64_t after(const CodeBlock& block, std::uint64_t address) const;

 private:
  /// Branch-free, as processors could not predict the branches.
  static bool decide(CodeBlock& block, std::uint64_t chance) {
    const auto drawn = static_cast<std::uint32_t>((chance & 0xFFFFFFFF) * block.trip_span >> 32);
    const std::uint32_t fresh = 0U - static_cast<std::uint32_t>(block.trips_left == 0);
    const std::uint32_t left = (block.trips_left | (fresh & (block.trip_from + drawn + 1))) - 1;
    block.trips_left = left;
    return ((static_cast<std::uint32_t>(left != 0) & block.loops) |
            static_cast<std::uint32_t>(chance >> 32 < block.chance)) != 0;
  }

  static constexpr std::size_t kMostByChance = 256;
  static constexpr std::uint32_t kMaxBlockCount = 1U << 16;
  static constexpr std::uint32_t kMaxSpins = 64;
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      const std::uint64_t mixed =
          (place.address ^ static_cast<std::uint64_t>(place.isa) << 61) * 0x9E3779B97F4A7C15ULL;
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  struct Interrupted {
    Place back;
    PeContext context;
    std::uint32_t vector = 0;  ///< M profile: of the interrupted handler; 0: Thread mode.
  };

  struct Blocks {
    std::deque<CodeBlock> all{};
    std::unordered_map<Place, CodeBlock*, PlaceHash> by_place{};
  };
  struct Replays {
    std::unordered_map<std::uint64_t, Replay> by_branch{};  ///< Blocks may share one.
    std::uint64_t run = 0;  ///< Counts how often the program began again.
  };
  /// The callers, as a ring: older ones are forgotten.
  struct Calls {
    static constexpr std::size_t kMost = 4096;  // A power of two.
    std::array<CodeBlock*, kMost> ring{};
    std::uint64_t depth = 0;
    std::size_t known = 0;

    void push(CodeBlock& block) {
      ring[depth++ % kMost] = &block;
      if (known < kMost) ++known;
    }
    /// nullptr: none is known.
    CodeBlock* pop() {
      if (known == 0) return nullptr;
      --known;
      return ring[--depth % kMost];
    }
  };
  struct Pending {
    bool due = false;      ///< The last step was cut: the next one is the exception.
    bool abandon = false;  ///< Execution does not return to what the exception interrupts.
    bool tail_chain = false;
    ExceptionCause cause = ExceptionCause::kIrq;
    std::uint32_t vector = 0;
    Place at{};  ///< Where it happens.
  };
  struct Logged {
    std::size_t place = 0;        ///< The one of the log that was reached last.
    std::uint64_t rest_done = 0;  ///< Instructions after the last place that were executed.
    bool ended = false;           ///< All of the log was executed.
  };

  CodeBlock* find(Place place);
  CodeBlock* build(Place place);
  CodeBlock* link(CodeBlock& block, bool taken);
  void describe(CodeBlock& block);
  void follow_log(Step& step, CodeBlock& block);
  void interrupt(Step& step, CodeBlock& block);
  void begin_exception(Step& step, CodeBlock& block);
  void fault(Step& step, CodeBlock& block);
  void enter_handler(Step& step);
  void leave_handler(Step& step);
  [[nodiscard]] bool preempts(std::uint32_t vector, std::uint32_t active) const;
  [[nodiscard]] std::uint32_t draw_vector(std::uint32_t active);
  [[nodiscard]] bool is_secure(std::uint32_t vector) const;
  void enter_vector(Step& step);
  void leave_vector(Step& step);
  void take_indirect(Step& step, CodeBlock& block);
  [[nodiscard]] Place restart();

  void push(CodeBlock& block) {
    calls_.push(block);
    // Some recursions would never end by chance.
    if (calls_.known >= kMostByChance && !program_->recorded()) spins_ = kMaxSpins;
  }

  const Program* program_;
  isa::Options waypoints_;
  ExecutionOptions options_;
  Random random_;
  Blocks blocks_;
  Replays replays_;
  Calls calls_;
  std::vector<Interrupted> interrupted_;
  PeContext context_;
  std::uint32_t vector_ = 0;  // M profile: the exception that is handled; 0: Thread mode.
  CodeBlock* current_ = nullptr;
  Pending exception_;
  std::uint32_t spins_ = 0;
  Logged logged_;
  std::uint64_t until_exception_ = 0;
};

}  // namespace waymark::synth
