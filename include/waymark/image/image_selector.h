// Which image shows the memory of a core, where that depends on the process and on the time.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"

namespace waymark::image {

class Image;

/// Chooses among images that do not change.  Any number of threads may ask.
class ImageSelector {
 public:
  ImageSelector() = default;
  ImageSelector(const ImageSelector&) = delete;
  ImageSelector& operator=(const ImageSelector&) = delete;
  virtual ~ImageSelector() = default;

  /// The image of what a source executed at a place of the trace.  The image lives as long as the
  /// selector, and may be empty.
  [[nodiscard]] virtual const Image& image_at(TraceIndex index, TraceId trace_id,
                                              ExecutionContext context) const = 0;

  /// The image that executed there, and how far it is known to hold for this source and context.
  struct Task {
    TaskId id{};  ///< One task has one memory.
    TraceIndex begin = 0;
    TraceIndex end = kNoIndex;  ///< Excluded.
  };
  [[nodiscard]] virtual Task task_at(TraceIndex /*index*/, TraceId /*trace_id*/,
                                     ExecutionContext /*context*/) const {
    return {};
  }
};

}  // namespace waymark::image
