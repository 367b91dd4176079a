// Aligns what one thread executed in two runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "waymark/diff/blocks.h"

namespace waymark::diff {

/// Why two runs did not execute the same.
enum class Cause : std::uint8_t {
  kBranchOutcome,   ///< A conditional branch was taken in one run only.
  kIndirectTarget,  ///< An indirect branch went to different places.
  kException,       ///< An exception was taken in one run only, or not the same one.
  kHandler,         ///< The same exception went to different handlers.
  kOtherCode,       ///< The programs differ here.
  kGap,             ///< Trace of one run is missing.
  kStart,           ///< The traces begin, or go on after a gap, at different places.
  kEnd,             ///< The trace of one run ends.
};
inline constexpr std::size_t kCauses = 8;

/// Where a run is, in one thread.
struct Position {
  std::uint64_t step = 0;         ///< Steps of the thread before it.
  std::uint64_t instruction = 0;  ///< Instructions of the thread before this step.
  /// The step; kNoBlock: the thread has ended.
  BlockNumber block = kNoBlock;
  /// The step before it, with whose last instruction both runs still agree; kNoBlock: none.
  BlockNumber before = kNoBlock;
};

/// The code that one run executed until both continue in the same way.
struct Detour {
  std::uint64_t steps = 0;
  std::uint64_t instructions = 0;
};

/// A place at which two runs diverge.
struct Divergence {
  std::uint32_t thread = 0;  ///< The number that the Aligner has.
  Cause cause = Cause::kOtherCode;
  /// The run that left the common path: it took the branch or the exception, has the gap or ends.
  /// Nothing: both did.
  std::optional<Side> left{};
  std::array<Position, kSides> at{};
  std::array<Detour, kSides> detours{};
  /// The step from which on both go on alike; kNoBlock: they do not.
  BlockNumber joined = kNoBlock;
  /// They meet in the middle of that step: only its end is the same.
  bool joined_inside = false;
  /// How often the runs diverge like this, as a Comparison counts it; 1 from an Aligner.
  std::uint64_t times = 1;
};

/// How far the runs of a thread are the same.
struct Agreement {
  std::uint64_t steps = 0;  ///< Executed by both, in the same order.
  std::uint64_t divergences = 0;
  std::array<std::uint64_t, kCauses> by_cause{};
  std::uint64_t not_joined = 0;  ///< Divergences after which the runs could not be aligned again.
  std::array<Detour, kSides> apart{};  ///< All detours.
};

/// Compares steps one by one.  Where they differ, it searches the next place from which on both
/// runs are the same for several steps: the nearer it is, the fewer steps are enough.  It looks
/// kMostDistance steps ahead in both runs.  If they do not meet there, these steps are passed over,
/// and the search goes on after them.
///
/// Time is linear in the steps; memory is bounded by kMostDistance and by what a run is ahead.
class Aligner {
 public:
  static constexpr std::size_t kMostDistance = std::size_t{1} << 18;

  using Found = std::function<void(const Divergence& divergence)>;

  /// `blocks` must outlive it.
  Aligner(const Blocks& blocks, std::uint32_t thread) : blocks_(blocks), thread_(thread) {}

  void add(Side side, BlockNumber block, std::uint32_t instructions) {
    runs_[side].steps.push_back(block);
    runs_[side].counts.push_back(instructions);
  }
  void end(Side side) { runs_[side].ended = true; }
  /// Takes the steps of a run from `other`, which had no partner for it; this one has none either.
  void take(Side side, Aligner& other) { runs_[side] = std::move(other.runs_[side]); }
  /// Goes as far as is possible with the steps that are known.
  void advance(const Found& found);

  /// Steps that wait for those of the other run.
  [[nodiscard]] std::size_t waiting(Side side) const {
    return runs_[side].steps.size() - runs_[side].head;
  }
  [[nodiscard]] const Agreement& agreement() const { return agreement_; }

 private:
  struct Run {
    std::vector<BlockNumber> steps{};
    std::vector<std::uint32_t> counts{};  ///< Their instructions.
    std::size_t head = 0;                 ///< In both: the first that is not compared.
    std::uint64_t passed = 0;
    std::uint64_t instructions = 0;  ///< Those of the passed steps.
    BlockNumber before = kNoBlock;
    bool ended = false;
  };
  struct Meeting {
    std::size_t first = 0;
    std::size_t second = 0;
  };
  struct Reach {
    std::size_t distance;  ///< Steps to look ahead.
    std::size_t alike;     ///< This many must be the same.
  };
  static constexpr std::array<Reach, 5> kReaches{
      {{8, 2}, {64, 4}, {1024, 8}, {16384, 12}, {kMostDistance, 16}}};

  [[nodiscard]] BlockNumber step(Side side, std::size_t ahead) const {
    const Run& run = runs_[side];
    return run.head + ahead < run.steps.size() ? run.steps[run.head + ahead] : kNoBlock;
  }
  bool compare();
  void open();
  void classify(Divergence& divergence) const;
  void classify_same_start(Divergence& divergence) const;
  bool join(const Found& found);
  void close(const Found& found, BlockNumber joined, bool inside);
  void pass(Side side, std::size_t steps, bool apart);
  static void compact(Run& run);
  [[nodiscard]] std::optional<Meeting> meet(const Reach& reach) const;
  [[nodiscard]] std::uint64_t window(Side side, std::size_t ahead, std::size_t alike) const;
  [[nodiscard]] bool same_window(std::size_t first, std::size_t second, std::size_t alike) const;

  const Blocks& blocks_;
  std::uint32_t thread_;
  std::array<Run, kSides> runs_;
  std::optional<Divergence> open_;  ///< The runs are apart since.
  std::size_t reach_ = 0;           ///< In kReaches: the next to try.
  bool done_ = false;
  Agreement agreement_;
};

}  // namespace waymark::diff
