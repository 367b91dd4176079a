// Two runs: where they diverge, and what each executed more often.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/diff/aligner.h"
#include "waymark/diff/blocks.h"
#include "waymark/diff/programs.h"
#include "waymark/diff/threads.h"

namespace waymark::diff {

/// By what a thread finds its partner in the other run.
struct ThreadName {
  std::string group{};  ///< The core, or nothing where threads move between cores.
  std::string name{};   ///< The thread in it.
};

struct ComparisonOptions {
  std::array<RunOptions, kSides> runs{};
  std::array<program::PlaceLookup, kSides> places{};
  /// Asked once for each thread, with its first element.  Empty: the trace ID, and the context ID
  /// and VMID.
  std::array<std::function<ThreadName(const Element& element)>, kSides> names{};
  /// Distinct divergences beyond these are only counted.
  std::size_t most_divergences = 1000;
  /// Steps of one run that wait for the other.
  std::size_t most_waiting = std::size_t{1} << 25;
};

/// A thread of both runs, or one without a partner.
struct ThreadPair {
  ThreadName name{};
  std::array<std::optional<ThreadNumber>, kSides> threads{};
  /// They have not the same name: they are the n-th thread of their group, in both runs.
  bool by_order = false;
  Agreement agreement{};
  std::array<std::uint64_t, kSides> instructions{};
  /// Steps that were not compared, because the runs executed their threads in orders too different.
  std::array<std::uint64_t, kSides> not_compared{};
};

/// A sum that is not the same in both runs.
struct Change {
  std::uint32_t number = 0;  ///< A function or a block has it.
  std::array<Sums, kSides> sums{};
};

/// Takes the elements of both runs, in any order between them: a run that is ahead has steps that
/// wait.  Threads of one name are compared with each other, the first with the first and so on.
/// At the end, those that are left are compared in the order in which they appeared in their group.
///
/// One owner; not thread safe.
class Comparison {
 public:
  explicit Comparison(ComparisonOptions options);
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  /// Programs that are known before the first element.
  [[nodiscard]] Programs& programs() { return programs_; }

  void observe(Side side, std::span<const Element> elements);
  void finish(Side side);
  /// The run whose elements should come next; nothing: both have finished.
  [[nodiscard]] std::optional<Side> next() const;

  // -- Once both have finished. -----------------------------------------------------------------

  [[nodiscard]] const std::vector<ThreadPair>& threads() const { return pairs_; }
  /// In the order in which they were found; `thread` is the number of the pair.  Those of one
  /// thread at the same place with the same cause and outcome are one: the first, with their
  /// number.
  [[nodiscard]] const std::vector<Divergence>& divergences() const { return divergences_; }
  /// The stretch after which the runs diverge, which both executed, in the program of each.
  /// Nothing: they diverge before all of them.
  [[nodiscard]] std::optional<std::array<BlockPlace, kSides>> common_part(
      const Divergence& divergence) const;
  /// Both runs were compared as a whole, in all their threads, and executed the same.
  [[nodiscard]] bool are_same() const;
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }
  [[nodiscard]] const Programs& programs() const { return programs_; }
  /// The runs are too large: what came after that is not compared.
  [[nodiscard]] bool is_full() const { return blocks_.is_full(); }
  /// Everything, over all threads.
  [[nodiscard]] Agreement agreement() const;
  [[nodiscard]] std::array<Sums, kSides> totals() const;
  /// The differences, the largest in instructions first, then in cycles.
  [[nodiscard]] std::vector<Change> function_changes() const;
  [[nodiscard]] std::vector<Change> block_changes() const;

 private:
  /// The last steps of a thread, which get its cycles.
  struct CycleShares {
    static constexpr std::size_t kMost = 1024;
    std::vector<std::pair<BlockNumber, std::uint32_t>> steps{};
    std::uint64_t carried = 0;
  };
  struct Lane {
    std::uint32_t pair = 0;
    Aligner* aligner = nullptr;
    CycleShares cycles{};
  };
  struct Run {
    explicit Run(RunOptions options) : threads(std::move(options)) {}
    Threads threads;
    std::vector<Lane> lanes{};
    std::uint64_t steps = 0;
    bool finished = false;
  };
  class Visitor;

  /// What equal divergences have in common.
  struct Kind {
    std::uint32_t thread = 0;
    Cause cause = Cause::kOtherCode;
    std::optional<Side> left{};
    /// The place in each run: the end of the common part.
    std::array<const program::Program*, kSides> programs{};
    std::array<std::uint64_t, kSides> addresses{};
    /// Where each run went on, or the exception that it took.
    std::array<std::uint64_t, kSides> outcomes{};
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  [[nodiscard]] Kind kind_of(const Divergence& divergence) const;
  void add_thread(Side side, ThreadNumber thread, const Element& element);
  void add_step(Side side, ThreadNumber thread, const Step& step, TaskId space, const Element& at);
  void add_cycles(Side side, ThreadNumber thread, std::uint64_t cycles);
  void advance();
  void pair_rest();
  void keep(const Divergence& divergence);

  ComparisonOptions options_;
  Programs programs_;
  Blocks blocks_;
  std::array<Run, kSides> runs_;
  std::vector<ThreadPair> pairs_;
  std::vector<std::unique_ptr<Aligner>> aligners_;  ///< By pair.
  /// Pairs of each name, in order, and how many of them each run has.
  struct Named {
    std::vector<std::uint32_t> pairs{};
    std::array<std::size_t, kSides> used{};
  };
  std::map<std::pair<std::string, std::string>, Named> by_name_;
  std::vector<std::uint32_t> touched_;  ///< Pairs with steps that are not compared yet.
  std::vector<bool> is_touched_;
  std::vector<Divergence> divergences_;
  std::map<Kind, std::size_t> kinds_;  ///< Where they are in `divergences_`.
  std::array<std::size_t, kSides> waiting_{};
};

}  // namespace waymark::diff
