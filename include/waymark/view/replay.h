// Decodes a part of a trace again, from a keyframe, with call stacks and places on the axis.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/element/element.h"
#include "waymark/stacks/engine.h"
#include "waymark/view/answers.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// Where a replay begins and ends.  What is before `from` is decoded only as far as stacks and
/// times need it, and is given too.
struct ReplayRange {
  /// Begins at the last keyframe before this place of the axis; or before this instruction.
  double from = 0;
  std::optional<Instant> from_instant{};
  /// Ends when all sources are after this place; nothing: when `take` returns false.
  std::optional<double> to{};
  /// Gets what happens on stacks, too.  Where the replay begins, it gets all tracks, what each
  /// source executes, and an on_enter() with Opening::kResumed for each frame that is open, the
  /// outermost first.  Its positions are the numbers of instructions, as `n` of Replay::Take.
  stacks::Sink* sink = nullptr;
};

/// One decoder of a session, used by one thread at a time.  Sessions keep a few of them.
class Replay {
 public:
  virtual ~Replay() = default;
  Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Gets each element in the order of the trace, before the engine gets it.  `n`: the instructions
  /// that its source executed before it, without those of an unknown path (kInstrRangeNoPath).
  /// False: the replay ends, after the next anchors of the axis so that axis() has an answer for
  /// what was given.
  using Take = std::function<bool(const Element& element, std::uint64_t n)>;

  virtual Result<void> run(const ReplayRange& range, const Take& take, const Stop& stop) = 0;

  /// The stacks as they are before the element that `take` has.
  [[nodiscard]] virtual const stacks::Engine& engine() const = 0;
  /// The place on the axis of an instruction that the last run() passed.  After run() only.
  [[nodiscard]] virtual double axis(TraceId source, std::uint64_t n) const = 0;
  /// The last instruction of a source that the last run() passed and that began at `at` or earlier;
  /// nothing: none.  After run() only.
  [[nodiscard]] virtual std::optional<std::uint64_t> last_at(TraceId source, double at) const = 0;
};

}  // namespace waymark::view
