// The path of a program, instruction by instruction: for protocols that trace each one.  See
// docs/architecture.md, etmv3.md 9.3.
#pragma once

#include <cstdint>

#include "waymark/flow/instruction_cache.h"
#include "waymark/flow/path.h"
#include "waymark/image/image.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// The facts that the trace has stated about a path over instructions.  Everything else is only
/// remembered from the image.
struct StepPathState {
  std::uint32_t address = 0;  ///< That of the next instruction; see `lost`.
  isa::Isa isa = isa::Isa::kUnknown;
  /// `address` is not where execution is: an indirect branch has gone somewhere.
  bool lost = true;

  friend bool operator==(const StepPathState&, const StepPathState&) = default;
};

/// One path of execution over the instructions of a cache.  Atoms are taken by take() of
/// step_path_inl.h.  step() is the instruction at the place, if it is known.  One owner; not thread
/// safe.
class StepPath : public StepPathState {
 public:
  /// Stands for the step while the path is lost: an end that leads nowhere.
  static constexpr Step kNowhere[2] = {
      {.bits = Step::kAlways | Step::kStopsExecuted | Step::kStopsNotExecuted}, {}};

  /// `image` must outlive the path.
  StepPath(const image::Image& image, const isa::Options& options, TraceId trace_id)
      : cache_(image, options, trace_id) {}

  [[nodiscard]] InstructionCache& cache() { return cache_; }
  [[nodiscard]] const InstructionCache& cache() const { return cache_; }
  /// Selects the memory that is read from now on.
  void select(image::SpaceMask space, ExecutionContext context, TraceIndex index) {
    step_ = nullptr;
    cache_.select(space, context, index);
  }

  /// The trace states the place.
  void go_to(std::uint32_t to, isa::Isa in) {
    address = to;
    isa = in;
    lost = false;
    step_ = nullptr;
  }
  /// The place is this step.
  void go_to(const Step& step) {
    address = step.address;
    isa = step.isa();
    step_ = &step;
  }
  /// Nothing says where execution is.
  void lose() {
    lost = true;
    step_ = nullptr;
  }
  /// The instruction set at the place is another one.
  void change_isa(isa::Isa in) {
    if (isa != in) step_ = nullptr;
    isa = in;
  }
  /// Continues from the state of another path over the same program.
  void restore(const StepPathState& state) {
    static_cast<StepPathState&>(*this) = state;
    step_ = nullptr;
  }

  /// The instruction at the place; nullptr: none, and InstructionCache::outcome() says why.  The
  /// path is not lost.
  const Step* find() {
    if (step_ == nullptr) step_ = cache_.find(address, isa);
    return step_;
  }

  template <class Sink>
  Turn take(std::uint32_t& atoms, unsigned& left, Sink& sink);
  template <class Sink>
  Turn take_from(const Step*& at, std::uint32_t& atoms, unsigned& left, Sink& sink);

 private:
  const Step* jump(const Step& branch);
  const Step* go_on(const Step& end);

  InstructionCache cache_;
  StepPointer step_;
};

}  // namespace waymark::flow
