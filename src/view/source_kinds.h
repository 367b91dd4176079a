// The kind of each source of a capture: instructions, or elements with times of their own.
#pragma once

#include <array>
#include <optional>

#include "axis_clock.h"
#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"

namespace waymark::view {

/// A fact of the capture; it does not change.
class SourceKinds {
 public:
  explicit SourceKinds(const inputs::Capture& capture);

  /// Whether a source traces the execution of instructions.
  [[nodiscard]] bool executes(TraceId id) const { return executes_[id]; }
  /// Whether all sources do.
  [[nodiscard]] bool all_execute() const { return all_execute_; }
  /// The time that an element states for its source; local timestamps only of an ITM that is alone.
  [[nodiscard]] std::optional<ElementTime> time_of(const Element& element) const;

 private:
  std::array<bool, 256> executes_{};
  bool all_execute_ = true;
  bool local_times_ = false;
};

}  // namespace waymark::view
