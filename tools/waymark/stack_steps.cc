#include "stack_steps.h"

#include "stack_pass.h"

namespace waymark::cli {
namespace {

using stacks::Step;

shard::StepReader reader_of(const std::string& steps) {
  return shard::StepReader({reinterpret_cast<const std::uint8_t*>(steps.data()), steps.size()});
}

}  // namespace

StepMaker::StepMaker(const inputs::Capture& capture, const program::PlaceLookup& places,
                     const std::optional<Selection>& selection, bool times)
    : selection_(selection),
      // The steps of a recording keep their places.
      writer_(capture.processes() != nullptr),
      recorder_(places, [this](const Step& step) { writer_.add(step); }, times) {
  for (const inputs::CaptureSource& source : capture.sources())
    recorder_.set_source(source.id, facts_of(source));
  if (const auto owner = stack_options(capture, places).owner)
    recorder_.set_owners([owner](const Element& range) { return owner(range).until; });
}

void StepMaker::observe(std::span<const Element> elements) {
  if (!selection_) return recorder_.observe(elements);
  for (const Element& element : elements) {
    if (stacks::is_of_thread(element) && !selection_->shows(element)) {
      recorder_.leave_out(element.trace_id);
    } else {
      recorder_.observe({&element, 1});
    }
  }
}

std::string StepMaker::take() {
  recorder_.finish();
  return writer_.take();
}

Result<bool> play_steps(stacks::Engine& engine, const std::string& steps) {
  shard::StepReader reader = reader_of(steps);
  for (Step step; reader.next(step);)
    if (!engine.play(step)) return false;
  if (reader.is_bad()) return fail(ErrorCode::kBadData, "these are not steps");
  return true;
}

void play_end(stacks::Engine& engine, const std::string& steps, TraceId id) {
  shard::StepReader reader = reader_of(steps);
  for (Step step; reader.next(step);)
    if (step.element.trace_id == id) (void)engine.play(step);
}

bool are_steps(const std::string& steps) {
  shard::StepReader reader = reader_of(steps);
  for (Step step; reader.next(step);) {
  }
  return !reader.is_bad();
}

}  // namespace waymark::cli
