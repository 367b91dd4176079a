// The unit in which two runs are compared: stretches of code without a taken branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "waymark/element/element.h"

namespace waymark::diff {

/// Which of the two runs: 0 or 1.
using Side = std::size_t;
inline constexpr std::size_t kSides = 2;

/// How execution left a stretch.
enum class Leave : std::uint8_t {
  kBranch,     ///< A direct branch was taken.
  kIndirect,   ///< An indirect branch was taken.
  kException,  ///< An exception interrupted it.
  kGap,        ///< Nothing is known of what came next.
  kEnd,        ///< The trace ended.
  kElsewhere,  ///< Execution went on at another place, and the trace does not say why.
};

/// Instructions from `start` up to, and not including, `end`, of which only the last one may have
/// been a taken branch.  How the trace divides them into ranges does not matter.  An exception
/// between a taken branch and its target makes a stretch of no instructions at the target.
struct Step {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t count = 0;      ///< Instructions.
  std::uint32_t exception = 0;  ///< Its number, for kException.
  Leave leave = Leave::kBranch;
  isa::Isa isa = isa::Isa::kUnknown;  ///< At the end.
  std::uint8_t last_size = 0;         ///< The bytes of the last instruction.
  /// The last instruction is conditional.
  bool conditional = false;
};

/// Makes steps of the elements of one thread, and leaves out what is ignored.  A value.
///
/// Where an exception is ignored, everything until execution returns to what it interrupted is left
/// out, and the stretch that it interrupted goes on.  The same holds for a call of an ignored
/// function.
class Stepper {
 public:
  /// Deeper calls and exceptions than these are not followed while something is left out.
  static constexpr std::size_t kMostDepth = 1024;

  /// `watch_calls`: functions may be ignored, so calls wait for what they call.
  explicit Stepper(bool watch_calls = false) : watch_calls_(watch_calls) {}

  /// A kInstrRange.  `emit(step)` gets what is complete; `is_ignored(element)` says whether a range
  /// that a branch went to begins an ignored function.
  template <class Emit, class IsIgnored>
  void range(const Element& element, Emit&& emit, IsIgnored&& is_ignored) {
    if (careful_ && !arrive(element, emit, is_ignored)) return;
    if (!active_) {
      begin(element.start);
    } else if (element.start != now_.end) {
      leave(Leave::kElsewhere, emit);
      begin(element.start);
    }
    now_.end = element.end;
    now_.count += element.count;
    now_.isa = element.isa;
    now_.last_size = element.last_size;
    if (!takes_branch(element)) return;
    now_.conditional = (element.flags & kElementConditional) != 0;
    if (watch_calls_) {
      note_branch(element);
      return;
    }
    leave(leave_of(element), emit);
  }

  /// A kException that is not ignored.
  template <class Emit>
  void exception(const Element& element, Emit&& emit) {
    if (!ignored_.empty()) return interrupt(element);
    settle(emit);
    if (!active_) begin((element.flags & kElementReturnAddress) != 0 ? element.end : 0);
    now_.exception = element.number;
    leave(Leave::kException, emit);
  }
  /// A kException that is ignored.
  template <class Emit>
  void ignore_exception(const Element& element, Emit&& emit) {
    if (ignored_.empty()) settle(emit);
    interrupt(element);
  }
  /// A kExceptionReturn.
  void exception_return() { arrives_ = true; }

  /// Trace is missing here.  `filtered`: because a filter leaves it out, as where a handler is
  /// not traced; then execution may go on as after a return.
  template <class Emit>
  void gap(bool filtered, Emit&& emit) {
    if (!ignored_.empty()) {
      arrives_ = true;
      if (filtered) {
        filtered_ = careful_ = true;
        return;
      }
    }
    lose(emit);
  }
  /// The end of the trace.
  template <class Emit>
  void finish(Emit&& emit) {
    settle(emit);
    if (active_) leave(Leave::kEnd, emit);
    reset();
  }
  void reset() { *this = Stepper(watch_calls_); }

  /// The stretch that is not complete.
  [[nodiscard]] const Step& now() const { return now_; }
  [[nodiscard]] bool ignores() const { return !ignored_.empty(); }

 private:
  /// Something that is left out until execution goes on at `back`.
  struct Ignored {
    std::uint64_t back = kNoAddress;
    std::uint32_t calls = 0;  ///< From the same place, that have not returned.
  };

  static bool takes_branch(const Element& element) {
    return (element.flags & kElementExecuted) != 0 &&
           (element.last_type == isa::InstrType::kBranch ||
            element.last_type == isa::InstrType::kIndirectBranch);
  }
  static Leave leave_of(const Element& element) {
    return element.last_type == isa::InstrType::kBranch ? Leave::kBranch : Leave::kIndirect;
  }
  void begin(std::uint64_t address) {
    now_ = {.start = address, .end = address};
    active_ = true;
  }
  template <class Emit>
  void leave(Leave how, Emit&& emit) {
    now_.leave = how;
    active_ = false;
    after_gap_ = false;
    emit(static_cast<const Step&>(now_));
  }
  template <class Emit>
  void lose(Emit&& emit) {
    settle(emit);
    ignored_.clear();
    calls_.clear();
    filtered_ = careful_ = false;
    if (active_) {
      leave(Leave::kGap, emit);
    } else if (!after_gap_) {
      begin(0);
      leave(Leave::kGap, emit);
    }
    after_gap_ = true;
  }
  /// Gives a step that waited for what its branch went to.
  template <class Emit>
  void settle(Emit&& emit) {
    if (!held_) return;
    const Leave how = *held_;
    held_.reset();
    careful_ = false;
    leave(how, emit);
  }

  /// Whether the range counts.
  template <class Emit, class IsIgnored>
  bool arrive(const Element& element, Emit&& emit, IsIgnored&& is_ignored) {
    if (!ignored_.empty()) {
      if (returns_to(element.start)) {
        careful_ = !ignored_.empty();
        filtered_ = false;
        // Back in something else that is left out.
        if (careful_) pass(element);
        return !careful_;
      }
      if (!std::exchange(filtered_, false)) {
        pass(element);
        return false;
      }
      lose(emit);
      return true;
    }
    if (held_ && is_ignored(element)) {
      if (!held_call_) settle(emit);
      ignore_call();
      pass(element);
      return false;
    }
    if (held_ == Leave::kIndirect) close_calls(element.start);
    settle(emit);
    return true;
  }
  void note_branch(const Element& element);
  void ignore_call();
  void interrupt(const Element& element);
  void pass(const Element& element);
  bool returns_to(std::uint64_t address);
  void close_calls(std::uint64_t address);

  Step now_{};
  bool watch_calls_;
  bool active_ = false;
  bool careful_ = false;         ///< Something is ignored, or a step waits.
  bool after_gap_ = true;        ///< Nothing came since the last gap.
  bool arrives_ = false;         ///< The next range may be one that was returned to.
  bool filtered_ = false;        ///< The same, after trace that was not wanted.
  bool held_call_ = false;       ///< The branch of held_ is a call.
  std::optional<Leave> held_{};  ///< How `now_` is left, once it is known that nothing is ignored.
  std::vector<Ignored> ignored_{};
  std::vector<std::uint64_t> calls_{};  ///< Where open calls return to; the innermost last.
};

}  // namespace waymark::diff
