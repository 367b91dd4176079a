#include "waymark/flow/memory_view.h"

#include "waymark/image/image_selector.h"

namespace waymark::flow {

void MemoryView::forget() {
  callbacks_ = image_->has_callbacks();
  version_ = image_->version();
  selected_ = image_;
  known_.clear();
  next_ = 0;
  number_ = next_++;
}

bool MemoryView::select(image::SpaceMask space, std::uint64_t context, TraceIndex index) {
  bool kept = current();
  if (!kept) forget();
  space_ = space;
  const image::ImageSelector* const selector = image_->selector();
  if (selector == nullptr && !image_->has_spaces() && !callbacks_) return kept;
  const bool by_context = selector != nullptr || callbacks_;
  const image::Image* const image =
      selector != nullptr ? &selector->image_at(index, trace_id_, context) : image_;
  const std::uint64_t key = (by_context ? context * 0x9E3779B97F4A7C15ULL : 0) ^ space;
  auto [at, inserted] = known_.try_emplace(key, Known{next_, image});
  if (!inserted && at->second.image != image) {
    forget();
    kept = false;
    at = known_.emplace(key, Known{next_, image}).first;
    inserted = true;
  }
  if (inserted) ++next_;
  number_ = at->second.number;
  selected_ = image;
  return kept;
}

}  // namespace waymark::flow
