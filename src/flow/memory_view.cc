#include "waymark/flow/memory_view.h"

#include "waymark/image/image_selector.h"

namespace waymark::flow {

void MemoryView::forget() {
  callbacks_ = image_->has_callbacks();
  version_ = image_->version();
  selected_ = image_;
  begin_ = 0;
  end_ = kNoIndex;
  known_.clear();
  next_ = 0;
  number_ = next_++;
}

bool MemoryView::select(image::SpaceMask space, std::uint64_t context, TraceIndex index) {
  const bool kept = current();
  if (!kept) forget();
  space_ = space;
  const image::ImageSelector* const selector = image_->selector();
  if (selector == nullptr && !image_->has_spaces() && !callbacks_) return kept;
  std::uint64_t key = callbacks_ ? context : 0;
  if (selector != nullptr) {
    if (selected_ == image_ || context != context_ || !covers(index)) {
      const image::ImageSelector::Task task = selector->task_at(index, trace_id_, context);
      selected_ = &selector->image_at(index, trace_id_, context);
      begin_ = task.begin;
      end_ = task.end;
      context_ = context;
    }
    // Images do not change, and live as long as the selector.
    key = reinterpret_cast<std::uintptr_t>(selected_);
  }
  const auto [at, inserted] = known_.try_emplace(key * 0x9E3779B97F4A7C15ULL ^ space, next_);
  if (inserted) ++next_;
  number_ = at->second;
  return kept;
}

}  // namespace waymark::flow
