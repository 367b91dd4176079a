#include "stack_pass.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "complain.h"
#include "run.h"
#include "waymark/base/plural.h"
#include "waymark/element/exception_names.h"
#include "waymark/inputs/branch_code.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {
namespace {

/// The threads of a recording.
class TaskOwners {
 public:
  explicit TaskOwners(const perf::ProcessImages& images) : cursor_(images) {}

  stacks::Owner operator()(const Element& element) {
    const TaskId id = cursor_.id(element.index, element.trace_id, execution_context(element));
    const perf::Task& task = cursor_.task(id);
    return {.thread = static_cast<std::uint32_t>(task.tid), .space = id, .until = cursor_.until()};
  }

 private:
  perf::TaskCursor cursor_;
};

std::string source_name(TraceId id) { return fmt::format("trace ID 0x{:02x}", id); }

}  // namespace

stacks::Options stack_options(const inputs::Capture& capture, outputs::PlaceLookup places) {
  stacks::Options options;
  options.places = std::move(places);
  const inputs::BranchCode code(capture);
  options.follows_call = [code](const Element& element, std::uint64_t address) {
    return code.follows_call(element, address);
  };
  options.direct_target = code.direct_targets();
  options.halfword = [code](const Element& range, std::uint64_t address) {
    return code.halfword(range, address);
  };
  if (capture.processes() != nullptr) options.owner = TaskOwners(*capture.processes());
  std::array<ExceptionNumbers, 256> numbers{};
  for (const inputs::CaptureSource& source : capture.sources())
    numbers[source.id] = inputs::exception_numbers(source);
  options.exception_name = [numbers](TraceId id, std::uint32_t number) {
    return exception_name(numbers[id], number);
  };
  return options;
}

std::function<std::string(const stacks::Owner& owner)> root_namer(const inputs::Capture& capture,
                                                                  Roots roots) {
  if (capture.processes() == nullptr) return {};
  return [images = capture.processes(), roots](const stacks::Owner& owner) {
    const perf::Task& task = images->task(owner.space);
    const std::string name = task.name.empty() ? "[unknown]" : task.name;
    return roots == Roots::kThreads ? fmt::format("{}-{}", name, task.tid) : name;
  };
}

stacks::SourceFacts facts_of(const inputs::CaptureSource& source) {
  const Protocol protocol = source.source->protocol();
  return {.profile = source.profile,
          .timestamps_repeat_cycles = protocol == Protocol::kEtmV4 || protocol == Protocol::kEte};
}

void set_sources(stacks::Engine& engine, const inputs::Capture& capture) {
  for (const inputs::CaptureSource& source : capture.sources())
    engine.set_source(source.id, facts_of(source));
}

void observe_selected(stacks::Engine& engine, std::optional<Selection>& selection,
                      std::span<const Element> elements) {
  if (!selection) return engine.observe(elements);
  for (const Element& element : elements) {
    if (stacks::is_of_thread(element)) {
      if (!selection->shows(element)) {
        engine.leave_out(element.trace_id);
        continue;
      }
      engine.take_up(element.trace_id);
    }
    engine.observe({&element, 1});
  }
}

int trace_stacks(inputs::Capture& capture, const std::optional<Selection>& selection,
                 Window& window, Output& output, stacks::Engine& engine,
                 const std::function<void(std::span<const Element>)>& also,
                 const RunLimits& limits) {
  std::optional<Selection> own = selection;
  const auto observe = [&](std::span<const Element> elements) {
    observe_selected(engine, own, elements);
  };
  const RunHooks hooks{
      .on_elements =
          [&](std::span<const Element> all) {
            const std::span<const Element> elements = window.given() ? window.cut(all) : all;
            observe(elements);
            if (also) also(elements);
          },
      .stop = {},
      .enough = [&](TraceIndex index) { return window.given() && window.enough(index); },
      .limits = limits};
  const int code = run_capture(capture, output, hooks);
  engine.finish();
  return code;
}

void report_quality(const stacks::Engine& engine) {
  for (const TraceId id : engine.sources()) {
    const stacks::Quality quality = engine.quality(id);
    if (!quality.is_poor()) continue;
    if (quality.missing_code != 0) {
      note(
          fmt::format("{}: code could not be read {}, so its call stacks are unreliable; `waymark "
                      "info` shows what is missing.",
                      source_name(id), counted(quality.missing_code, "time")));
    } else {
      note(
          fmt::format("{}: {} of {} returned to code that had not called it, so the call stacks "
                      "are unreliable. Check that the program image is the one that ran.",
                      source_name(id), quality.mismatch, counted(quality.returns(), "return")));
    }
  }
  if (engine.lacks_contexts()) {
    note(
        "some call stacks begin in the middle, as after a switch of threads, but this trace has no "
        "context IDs that identify threads.");
  }
  if (const std::uint64_t folded = engine.tree().folded_calls(); folded != 0) {
    note(fmt::format("{} are counted in their callers, because the call tree is too large.",
                     counted(folded, "call")));
  }
}

void print_stack_quality(const stacks::Engine& engine) {
  for (const TraceId id : engine.sources()) {
    const stacks::Quality q = engine.quality(id);
    fmt::print(stderr,
               "{}: {} calls, {} tail calls; returns: {} to the caller, {} of them by a branch, {} "
               "to a deeper one, {} to one before the trace, {} to an unknown one; {} unwound, {} "
               "exceptions, {} gaps ({} with the same stack after it), {} places without code\n",
               source_name(id), q.calls, q.tail_calls, q.matches + q.branch_returns,
               q.branch_returns, q.deeper, q.empty, q.mismatch, q.unwinds, q.exceptions, q.gaps,
               q.confirmed, q.missing_code);
  }
}

}  // namespace waymark::cli
