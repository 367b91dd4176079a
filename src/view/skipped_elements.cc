#include "skipped_elements.h"

namespace waymark::view {

void SkippedElements::reset() {
  is_active_ = false;
  resume_ = {};
}

void SkippedElements::skip_to(TraceId id, const ResumePoint& resume) {
  is_active_ = true;
  resume_[id] = resume;
}

std::span<const Element> SkippedElements::rest_of(std::span<const Element> elements) {
  if (!is_active_) return elements;
  kept_.clear();
  for (const Element& element : elements) {
    std::optional<ResumePoint>& resume = resume_[element.trace_id];
    if (!resume) {
      kept_.push_back(element);
    } else if (element.index < resume->index) {
      continue;
    } else if (resume->skip != 0) {
      // From the first one on, the index of the others does not matter.
      *resume = {.index = 0, .skip = resume->skip - 1};
      if (resume->skip == 0) resume.reset();
    } else {
      resume.reset();
      kept_.push_back(element);
    }
  }
  return kept_;
}

}  // namespace waymark::view
