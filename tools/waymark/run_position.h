// The call stacks of a run at some of its steps.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/diff/comparison.h"
#include "waymark/outputs/differences.h"
#include "waymark/outputs/function_names.h"
#include "waymark/stacks/engine.h"

namespace waymark::cli {

/// Waits for the steps of divergences in the elements of one run.
class RunPositions {
 public:
  using ExceptionName = std::function<std::string(TraceId source, std::uint32_t number)>;

  /// Fills `place` where the thread of this run decides the divergence.
  void add(const diff::Comparison& comparison, const diff::Divergence& divergence, diff::Side side,
           diff::ThreadNumber thread, outputs::DifferencePlace& place);
  /// Nothing is waited for.
  [[nodiscard]] bool done() const { return wanted_.empty(); }

  /// All must outlive this object.
  void begin(diff::Threads& threads, stacks::Engine& engine, const outputs::PlaceLookup& places,
             ExceptionName exception_name);
  void observe(std::span<const Element> elements);
  void finish();

  // For Threads.
  void on_thread(diff::ThreadNumber thread, const Element& element);
  void on_step(diff::ThreadNumber thread, const diff::Step& step, TaskId space, const Element& at);
  void on_range(diff::ThreadNumber thread, const Element& element);
  void on_cycles(diff::ThreadNumber /*thread*/, std::uint64_t /*cycles*/) {}

 private:
  struct Wanted {
    std::uint64_t size = 0;  ///< Bytes of the step.
    std::uint32_t exception = 0;
    bool takes_exception = false;
    outputs::DifferencePlace* place = nullptr;
  };
  /// By thread and the number of the step in it.
  using Key = std::pair<diff::ThreadNumber, std::uint64_t>;

  void take(diff::ThreadNumber thread, const diff::Step& step, const Element& at);
  void fill(const Wanted& wanted, const diff::Step& step, const Element& at);

  std::multimap<Key, Wanted> wanted_;
  std::vector<std::uint64_t> steps_;  ///< By thread: the complete ones.
  diff::Threads* threads_ = nullptr;
  stacks::Engine* engine_ = nullptr;
  const outputs::PlaceLookup* places_ = nullptr;
  ExceptionName exception_name_;
  bool completed_ = false;  ///< The element completed a step.
};

}  // namespace waymark::cli
