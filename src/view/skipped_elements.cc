#include "skipped_elements.h"

#include <algorithm>

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
  // After the beginning, there is nothing to leave out, and nothing is copied.
  const auto waits = [this](const Element& element) {
    return resume_[element.trace_id].has_value();
  };
  if (!is_active_ || std::ranges::none_of(elements, waits)) return elements;
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

bool SkippedElements::counts() const {
  return is_active_ &&
         std::ranges::any_of(resume_, [](const auto& at) { return at && at->skip != 0; });
}

}  // namespace waymark::view
