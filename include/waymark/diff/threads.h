// The threads of one run, and the steps that each of them executes.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/diff/step.h"

namespace waymark::diff {

/// Whose instructions an element is about.
struct Owner {
  std::uint64_t thread = 0;  ///< Equal numbers of one source are one thread.
  TaskId space{};            ///< Elements with the same one have the same programs in memory.
  /// Elements from this place on may have another owner although the context does not change.
  TraceIndex until = kNoIndex;
};

/// How a run is read.
struct RunOptions {
  /// Asked at each change of context, after each gap, and from Owner::until on.  Empty: the context
  /// ID and VMID are the thread, and all threads have the same memory.
  std::function<Owner(const Element& element)> owner{};
  /// Whether an exception is left out; empty: none is.
  std::function<bool(const Element& exception)> ignores_exception{};
  /// Whether a range begins a function that is left out; empty: none is.
  std::function<bool(const Element& range)> ignores_function{};
  /// Trace IDs whose next cycle count repeats that of a timestamp (ETMv4, ETE).
  std::bitset<256> timestamps_repeat_cycles{};
};

using ThreadNumber = std::uint32_t;

/// Divides the elements of one run among its threads: each thread of each source has its own steps.
///
/// A Visitor has
///   on_thread(ThreadNumber, const Element&)       comes before anything else of the thread,
///   on_step(ThreadNumber, const Step&, space, const Element&)
///   on_range(ThreadNumber, const Element&)        a range that is not left out, before its step,
///   on_cycles(ThreadNumber, std::uint64_t)        of the steps since the last count.
class Threads {
 public:
  explicit Threads(RunOptions options) : options_(std::move(options)) {}

  template <class Visitor>
  void observe(std::span<const Element> elements, Visitor& visitor) {
    for (const Element& element : elements) {
      Source& source = sources_[element.trace_id];
      if (element.kind == ElementKind::kInstrRange) {
        if (source.thread == nullptr || element.index >= source.until)
          enter(source, element, visitor);
        range(*source.thread, element, visitor);
      } else {
        other(source, element, visitor);
      }
    }
  }

  /// The end of the run.
  template <class Visitor>
  void finish(Visitor& visitor) {
    for (const std::unique_ptr<Thread>& thread : threads_)
      thread->stepper.finish(emitter(*thread, thread->last, visitor));
  }

  /// The stretch that a thread executes now.
  [[nodiscard]] const Step& now(ThreadNumber thread) const {
    return threads_[thread]->stepper.now();
  }

 private:
  struct Thread {
    ThreadNumber number = 0;
    TaskId space{};
    Stepper stepper;
    Element last{};  ///< Its last range.
  };
  struct Source {
    Thread* thread = nullptr;
    TraceIndex until = kNoIndex;
    std::map<std::uint64_t, Thread*> threads{};
  };
  /// More threads of a source than these are one.
  static constexpr std::size_t kMostThreads = std::size_t{1} << 16;

  template <class Visitor>
  auto emitter(Thread& thread, const Element& at, Visitor& visitor) {
    return [&thread, &at, &visitor](const Step& step) {
      visitor.on_step(thread.number, step, thread.space, at);
    };
  }

  template <class Visitor>
  void range(Thread& thread, const Element& element, Visitor& visitor) {
    const bool was_ignoring = thread.stepper.ignores();
    // Entries that waited before this range belong to the place that was executed before it.
    thread.stepper.range(
        element,
        [&](const Step& step) { visitor.on_step(thread.number, step, thread.space, element); },
        [&](const Element& range) {
          return options_.ignores_function && options_.ignores_function(range);
        });
    if (was_ignoring && thread.stepper.ignores()) return;
    if (!thread.stepper.ignores()) visitor.on_range(thread.number, element);
    thread.last = element;
    if ((element.flags & kElementHasCycleCount) != 0)
      visitor.on_cycles(thread.number, element.cycle_count);
  }

  template <class Visitor>
  void other(Source& source, const Element& element, Visitor& visitor) {
    switch (element.kind) {
      case ElementKind::kPeContext:
        enter(source, element, visitor);
        break;
      case ElementKind::kNoSync:
      case ElementKind::kTraceOn:
      case ElementKind::kUnknown: {
        const bool filtered = element.kind == ElementKind::kTraceOn &&
                              static_cast<TraceOnReason>(element.reason) == TraceOnReason::kNormal;
        gap(source, filtered, visitor);
        if (source.thread != nullptr) enter(source, element, visitor);
        break;
      }
      case ElementKind::kInstrRangeNoPath:
      case ElementKind::kAddrNacc:
      case ElementKind::kAddrUnknown:
        gap(source, false, visitor);
        break;
      case ElementKind::kException:
        exception(source, element, visitor);
        break;
      case ElementKind::kExceptionReturn:
        if (source.thread != nullptr) source.thread->stepper.exception_return();
        break;
      case ElementKind::kTimestamp:
      case ElementKind::kCycleCount:
      case ElementKind::kEvent:
        break;
      default:
        return;
    }
    const bool repeats = element.kind == ElementKind::kTimestamp &&
                         options_.timestamps_repeat_cycles[element.trace_id];
    if (!repeats && source.thread != nullptr && (element.flags & kElementHasCycleCount) != 0)
      visitor.on_cycles(source.thread->number, element.cycle_count);
  }

  template <class Visitor>
  void gap(Source& source, bool filtered, Visitor& visitor) {
    if (source.thread == nullptr) return;
    Thread& thread = *source.thread;
    thread.stepper.gap(filtered, emitter(thread, thread.last, visitor));
  }

  template <class Visitor>
  void exception(Source& source, const Element& element, Visitor& visitor) {
    if (source.thread == nullptr || element.index >= source.until) enter(source, element, visitor);
    Thread& thread = *source.thread;
    const auto emit = emitter(thread, element, visitor);
    if (options_.ignores_exception && options_.ignores_exception(element)) {
      thread.stepper.ignore_exception(element, emit);
    } else {
      thread.stepper.exception(element, emit);
    }
  }

  /// The source executes the thread of this element from here on.
  template <class Visitor>
  void enter(Source& source, const Element& element, Visitor& visitor) {
    const Owner owner = owner_of(element);
    auto at = source.threads.find(owner.thread);
    if (at == source.threads.end() && source.threads.size() >= kMostThreads)
      at = source.threads.begin();
    if (at == source.threads.end()) {
      auto thread = std::make_unique<Thread>();
      thread->number = static_cast<ThreadNumber>(threads_.size());
      thread->stepper = Stepper(static_cast<bool>(options_.ignores_function));
      at = source.threads.emplace(owner.thread, thread.get()).first;
      threads_.push_back(std::move(thread));
      visitor.on_thread(at->second->number, element);
    }
    source.thread = at->second;
    source.thread->space = owner.space;
    source.until = owner.until;
  }

  [[nodiscard]] Owner owner_of(const Element& element) const {
    if (options_.owner) return options_.owner(element);
    if ((element.flags & (kElementContextIdValid | kElementVmidValid)) == 0) return {};
    return {.thread = std::uint64_t{element.vmid} << 32 | element.context_id};
  }

  RunOptions options_;
  std::array<Source, 256> sources_{};
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace waymark::diff
