// Steps of call stacks: what an engine needs of a slice, for jobs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "selection.h"
#include "waymark/base/result.h"
#include "waymark/inputs/capture.h"
#include "waymark/program/place_lookup.h"
#include "waymark/shard/step_codec.h"
#include "waymark/stacks/engine.h"
#include "waymark/stacks/recorder.h"

namespace waymark::cli {

/// Makes the steps of a slice, of the threads that are selected.
class StepMaker {
 public:
  /// `times`: see stacks::Recorder.
  StepMaker(const inputs::Capture& capture, const program::PlaceLookup& places,
            const std::optional<Selection>& selection, bool times);

  void observe(std::span<const Element> elements);
  /// The written bytes, for a StepReader; nothing more comes.
  std::string take();

 private:
  std::optional<Selection> selection_;
  shard::StepWriter writer_;
  stacks::Recorder recorder_;
};

/// Gives an engine the steps.  False: the engine needs the elements instead, and this one has no
/// use any more.  kBadData: these are not steps.
Result<bool> play_steps(stacks::Engine& engine, const std::string& steps);

/// Gives an engine the steps of one source; what it refuses is left out.
void play_end(stacks::Engine& engine, const std::string& steps, TraceId id);

/// Whether a text is steps.
bool are_steps(const std::string& steps);

}  // namespace waymark::cli
