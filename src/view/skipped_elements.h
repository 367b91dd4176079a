// Leaves out what decoders give before a keyframe, if they began earlier.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "keyframe.h"
#include "waymark/element/element.h"

namespace waymark::view {

/// One owner; not thread safe.
class SkippedElements {
 public:
  /// Nothing is left out.
  void reset();
  /// A source goes on at this place.
  void skip_to(TraceId id, const ResumePoint& resume);
  /// Without those that are left out; valid until the next call.
  std::span<const Element> rest_of(std::span<const Element> elements);
  /// Whether a number of elements is still to be left out, which the decoders do not know of.
  [[nodiscard]] bool counts() const;

 private:
  bool is_active_ = false;
  std::array<std::optional<ResumePoint>, 256> resume_{};  ///< By source; nothing: it went on.
  std::vector<Element> kept_;
};

}  // namespace waymark::view
