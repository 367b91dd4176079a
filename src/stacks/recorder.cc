#include "waymark/stacks/recorder.h"

#include <utility>

#include "engine_state.h"

namespace waymark::stacks {
namespace {

constexpr std::size_t kKnown = std::size_t{1} << 13;
/// While a source stays in a function, at most this number of steps wait.
constexpr std::size_t kMostWaiting = 4096;

}  // namespace

/// Known facts about the code at an address.
struct Recorder::Known {
  std::uint64_t address = kNoAddress;
  ExecutionContext context{};
  Bounds bounds{};  ///< Those of its function.
};

struct Recorder::Source {
  TraceId id = 0;
  SourceFacts facts{};
  /// The last range is a part of this step, and what stays in its function can follow; nullptr:
  /// none.
  Waiting* open = nullptr;
  Bounds bounds{};  ///< While something is open.
  TraceIndex until = kNoIndex;
  Action action = Action::kNone;
  /// Where the last range ended.
  std::uint64_t end = kNoAddress;
  bool known = false;  ///< `action` and `end` are true.
  bool left_out = false;
};

Recorder::Recorder(program::PlaceLookup places, Take take, bool times)
    : places_(std::move(places)), take_(std::move(take)), times_(times), known_(kKnown) {}

Recorder::~Recorder() = default;

Recorder::Source& Recorder::source(TraceId id) {
  auto& place = sources_[id];
  if (place == nullptr) {
    place = std::make_unique<Source>();
    place->id = id;
  }
  return *place;
}

void Recorder::set_source(TraceId id, const SourceFacts& facts) { source(id).facts = facts; }

void Recorder::observe(std::span<const Element> elements) {
  const Element* at = elements.data();
  const Element* const end = at + elements.size();
  Source* known = nullptr;
  while (at != end) {
    if (known == nullptr || known->id != at->trace_id) known = &source(at->trace_id);
    Source& now = *known;
    const Element* const begin = at;
    if (now.open != nullptr && now.action <= Action::kDirect) {
      const Bounds bounds = now.bounds;
      std::uint64_t own = 0;
      at = pass_ranges(at, end, now.id, bounds, now.until, own);
      if (at != begin) {
        add_to_run(now, at[-1], own);
        continue;
      }
    }
    if (at->kind == ElementKind::kInstrRange) {
      observe_range(now, *at);
    } else {
      observe_other(now, *at);
    }
    ++at;
  }
}

/// The source has executed this many more instructions in its function, and then `last`.
void Recorder::add_to_run(Source& source, const Element& last, std::uint64_t instructions) {
  Run& run = source.open->step.run;
  run.last = {.end = last.end,
              .last_type = last.last_type,
              .last_subtype = last.last_subtype,
              .last_size = last.last_size,
              .isa = last.isa,
              .executed = (last.flags & kElementExecuted) != 0};
  run.has_ranges = true;
  run.instructions += instructions;
  source.action = action_of(last);
  source.end = last.end;
}

void Recorder::observe_range(Source& source, const Element& range) {
  const Action before = source.action;
  source.left_out = false;
  if (source.open != nullptr && before <= Action::kDirect && source.bounds.contains(range) &&
      range.index < source.until) {
    add_to_run(source, range, range.count);
    if ((range.flags & kElementHasCycleCount) != 0) count(source, range);
    return;
  }
  close(source);
  // A call to the next instruction does not change the stack, so the function that executes can be
  // another one than that of the address.
  const bool may_stay = source.known && (before != Action::kCall || range.start != source.end);
  source.known = true;
  source.action = action_of(range);
  source.end = range.end;
  source.bounds = may_stay ? find(range).bounds : Bounds();
  if (until_) source.until = until_(range);
  Step step{.element = range};
  if (source.bounds.first != kNoAddress) {
    step.run.low = source.bounds.first;
    step.run.high = source.bounds.first + source.bounds.span;
  }
  source.open = &wait(step);
}

/// The same bounds as in Engine::find(), of the function in which the range ends, but none for code
/// without a name: there, each range may do something to the stack.
const Recorder::Known& Recorder::find(const Element& range) {
  const std::uint64_t address = range.end - 1;
  const ExecutionContext context = execution_context(range);
  const std::uint64_t mixed = (address >> 1 ^ context.process << 40) * 0x9E3779B97F4A7C15ULL;
  Known& known = known_[static_cast<std::size_t>(mixed >> 51)];
  if (known.address == address && known.context == context) return known;
  known = {.address = address, .context = context};
  if (!places_) {
    known.bounds = Bounds::all();
    return known;
  }
  const program::Place place = places_(range, address);
  if (place.program == nullptr) return known;
  const program::Function* const function = place.program->function(place.address);
  if (function != nullptr) known.bounds = bounds_of(place, *function, address);
  return known;
}

/// The source counts the cycles up to here, at a range or another element.
void Recorder::count(Source& source, const Element& element) {
  if (source.open != nullptr && !times_) {
    Run& run = source.open->step.run;
    if (run.counts == 0) {
      run.counted[0] = {.instructions = std::exchange(run.instructions, 0),
                        .cycles = element.cycle_count};
      run.counts = 1;
      return;
    }
    if (run.instructions != 0) {
      run.counted[1].instructions += std::exchange(run.instructions, 0);
      run.counted[1].cycles += element.cycle_count;
      run.counts = 2;
      return;
    }
  }
  close(source);
  Step step;
  step.element.kind = ElementKind::kCycleCount;
  step.element.trace_id = element.trace_id;
  step.element.index = element.index;
  step.element.flags = kElementHasCycleCount;
  step.element.cycle_count = element.cycle_count;
  give(step);
}

void Recorder::observe_other(Source& source, const Element& element) {
  switch (element.kind) {
    case ElementKind::kTimestamp:
      if (times_) {
        close(source);
        give({.element = element});
        return;
      }
      [[fallthrough]];
    case ElementKind::kCycleCount:
    case ElementKind::kEvent:
      if ((element.flags & kElementHasCycleCount) != 0 &&
          (element.kind != ElementKind::kTimestamp || !source.facts.timestamps_repeat_cycles))
        count(source, element);
      return;
    case ElementKind::kNoSync:
    case ElementKind::kTraceOn:
    case ElementKind::kUnknown:
    case ElementKind::kEndOfTrace:
    case ElementKind::kPeContext:
    case ElementKind::kInstrRangeNoPath:
    case ElementKind::kAddrNacc:
    case ElementKind::kAddrUnknown:
    case ElementKind::kException:
    case ElementKind::kExceptionReturn:
    case ElementKind::kMemTrans:
      close(source);
      if (is_of_thread(element)) source.left_out = false;
      give({.element = element});
      return;
    default:
      return;
  }
}

void Recorder::leave_out(TraceId id) {
  Source& now = source(id);
  if (std::exchange(now.left_out, true)) return;
  close(now);
  Step step{.kind = Step::Kind::kLeftOut};
  step.element.trace_id = id;
  give(step);
}

void Recorder::make_room() {
  if (waiting_.size() >= kMostWaiting) close(source(waiting_.front().step.element.trace_id));
}

Recorder::Waiting& Recorder::wait(const Step& step) {
  make_room();
  return waiting_.emplace_back(step, true);
}

void Recorder::give(const Step& step) {
  make_room();
  if (waiting_.empty()) {
    take_(step);
  } else {
    waiting_.emplace_back(step, false);
  }
}

/// The first step that waits is always open.
void Recorder::close(Source& source) {
  if (source.open == nullptr) return;
  std::exchange(source.open, nullptr)->open = false;
  while (!waiting_.empty() && !waiting_.front().open) {
    take_(waiting_.front().step);
    waiting_.pop_front();
  }
}

void Recorder::finish() {
  for (const auto& source : sources_)
    if (source != nullptr) close(*source);
}

}  // namespace waymark::stacks
