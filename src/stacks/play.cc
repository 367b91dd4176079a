// Engines that are given steps, and copies of engines.
#include "engine_state.h"
#include "waymark/stacks/recorder.h"

namespace waymark::stacks {

bool Engine::set_left_out(TraceId id, bool value) {
  return std::exchange(source(id).left_out, value);
}

bool Engine::play(const Step& step) {
  const TraceId id = step.element.trace_id;
  if (step.kind == Step::Kind::kLeftOut) {
    leave_out(id);
    return true;
  }
  if (is_of_thread(step.element)) take_up(id);
  observe({&step.element, 1});
  return step.run.is_empty() || stay(source(id), step);
}

bool Engine::stay(Source& source, const Step& step) {
  const Run& run = step.run;
  if (run.has_ranges) {
    // One range after the other would begin in these bounds, without a look at the stack.
    const Bounds& bounds = source.running.bounds;
    if (source.exit.action > Action::kDirect || run.low > run.high || !bounds.contains(run.low) ||
        !bounds.contains(run.high))
      return false;
    source.exit.end = run.last.end;
    source.exit.action = action_of(run.last.executed, run.last.last_type, run.last.last_subtype);
    source.last_size = run.last.last_size;
    // The context of the element before the run.
    source.last = step.element;
    source.last.end = run.last.end;
    source.last.last_size = run.last.last_size;
    source.last.isa = run.last.isa;
  }
  for (std::size_t i = 0; i < run.counts; ++i) {
    source.own += run.counted[i].instructions;
    count_cycles(source, run.counted[i].cycles);
  }
  source.own += run.instructions;
  return true;
}

std::unique_ptr<Engine> Engine::copy() const {
  Options options = options_;
  options.sink = nullptr;
  auto other = std::make_unique<Engine>(std::move(options));
  other->tree_ = tree_;
  for (std::size_t id = 0; id < sources_.size(); ++id) {
    if (sources_[id] == nullptr) continue;
    const Source& from = *sources_[id];
    auto to = std::make_unique<Source>(from.like());
    for (const auto& [key, thread] : from.threads) {
      auto& place = to->threads[key] = std::make_unique<Thread>(*thread);
      if (thread.get() == from.thread) to->thread = place.get();
    }
    other->sources_[id] = std::move(to);
  }
  other->known_ = known_;
  other->by_function_ = by_function_;
  other->forms_ = forms_;
  other->signal_ = signal_;
  other->lost_callers_ = lost_callers_;
  other->roots_ = roots_;
  other->tracks_ = tracks_;
  other->frames_ = frames_;
  other->search_credit_ = search_credit_;
  other->lacks_contexts_ = lacks_contexts_;
  other->finished_ = finished_;
  return other;
}

}  // namespace waymark::stacks
