// Shared by the units of all processor protocols: the execution that they follow, and the times at
// which rare events are due.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "waymark/element/exception_names.h"
#include "waymark/synth/trace_unit.h"

namespace waymark::synth {

/// The next time of each of a few rare events, so that the common case is one comparison.
template <std::size_t Count>
class Schedule {
 public:
  Schedule(std::array<std::uint64_t, Count> means, Random& random) : means_(means) {
    for (std::size_t i = 0; i < Count; ++i)
      due_[i] = means_[i] == 0 ? kNever : random.about(means_[i]);
    settle();
  }
  /// Call after each block.  True: something is due.
  bool tick() { return ++now_ >= first_; }
  /// Whether `what` is due.  If it is, its next time is planned.
  bool take(std::size_t what, Random& random) {
    if (due_[what] > now_) return false;
    due_[what] = now_ + random.about(means_[what]);
    settle();
    return true;
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  void settle() { first_ = *std::ranges::min_element(due_); }

  std::array<std::uint64_t, Count> means_;
  std::array<std::uint64_t, Count> due_{};
  std::uint64_t now_ = 0;
  std::uint64_t first_ = 0;
};

/// The unit's own return stack, which drops the oldest entry when it is full.
class UnitStack {
 public:
  static constexpr unsigned kDepth = 16;
  void push(Place place) {
    entries_[top_++ % kDepth] = place;
    count_ = std::min(count_ + 1, kDepth);
  }
  /// Removes the top entry if it is `place`.
  bool match(Place place) {
    if (count_ == 0 || entries_[(top_ + kDepth - 1) % kDepth] != place) return false;
    top_ = (top_ + kDepth - 1) % kDepth;
    --count_;
    return true;
  }
  void clear() { count_ = 0; }

 private:
  std::array<Place, kDepth> entries_{};
  unsigned top_ = 0;
  unsigned count_ = 0;
};

class CoreUnit : public TraceUnit {
 public:
  [[nodiscard]] bool exhausted() const override { return execution_.ended(); }

 protected:
  CoreUnit(const UnitOptions& options, std::string core, const Program& program,
           const isa::Options& waypoints, const ExecutionOptions& execution, bool keep_truth)
      : TraceUnit(options, std::move(core), keep_truth),
        execution_(program, waypoints, execution),
        random_(Random(options.seed).fork()) {
    record_context();
  }

  void record(EventKind kind, std::uint64_t number) {
    TruthEvent event{.kind = kind};
    event.number = number;
    truth_.add(event);
  }
  void record_exception(std::uint64_t number, std::uint64_t address) {
    TruthEvent event{.kind = EventKind::kException};
    event.number = number;
    event.address = address;
    truth_.add(event);
  }
  void record_context() {
    now_ = execution_.context();
    if (!options_.context_ids) now_.context_id = 0;
    if (!options_.vmids) now_.vmid = 0;
    TruthEvent event{.kind = EventKind::kContext};
    event.context = now_;
    truth_.add(event);
  }

  /// The core executes some blocks without trace.
  void run_hidden(std::uint32_t blocks) {
    Step step;
    // No address in a trace is between the return and the exception of a tail chain.
    for (; (blocks != 0 || step.chains()) && !execution_.ended(); blocks -= blocks != 0) {
      execution_.next(step);
      pass_time(step);
      hide(step);
      if (step.context_changed) record_context();
    }
  }
  void hide(const Step& step) {
    if (step.kind == StepKind::kException) return;
    TruthEvent event{.kind = EventKind::kHidden};
    event.start = step.start;
    event.end = step.end;
    event.count = step.count;
    event.taken = step.taken;
    event.isa = step.block->isa;
    truth_.add(event);
  }

  /// The number of an exception of the M profile in the trace.
  static std::uint16_t m_exception_number(ExceptionNumbers numbers, const Step& step) {
    return static_cast<std::uint16_t>(traced_number(numbers, step.vector).value_or(0));
  }

  /// The address of the last instruction of a part of a block.
  [[nodiscard]] std::uint32_t last_of(const Step& step) const {
    const std::uint64_t last =
        step.isa == isa::Isa::kT32 ? execution_.cut(*step.block, step.count - 1) : step.end - 4;
    return static_cast<std::uint32_t>(last);
  }

  /// One cycle per instruction, some for the waypoint, and sometimes a cache miss.
  void pass_time(const Step& step) { pass_time(step.count, random_.next()); }
  void pass_time(std::uint32_t count, std::uint64_t chance) {
    cycles_ += count + (chance & 3) + ((chance & 0xFF00) == 0 ? chance >> 16 & 0xFF : 0);
  }
  [[nodiscard]] std::uint64_t timestamp() const { return 0x1000'0000 + cycles_ / 4; }

  Execution execution_;
  Random random_;
  std::uint64_t cycles_ = 0;
  PeContext now_;  // The context of the next instruction to be traced.
};

}  // namespace waymark::synth
