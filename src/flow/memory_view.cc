#include "waymark/flow/memory_view.h"

#include <algorithm>
#include <array>

#include "waymark/base/bits.h"
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

bool MemoryView::select(image::SpaceMask space, ExecutionContext context, TraceIndex index) {
  const bool kept = current();
  if (!kept) forget();
  space_ = space;
  const image::ImageSelector* const selector = image_->selector();
  if (selector == nullptr && !image_->has_spaces() && !callbacks_) return kept;
  std::uint64_t key = callbacks_ ? context.process : 0;
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

bool MemoryView::complete(std::uint64_t address, isa::Isa isa, Bytes first,
                          std::span<std::uint8_t, 4> word) const {
  std::array<std::uint8_t, 4> joined{};
  std::size_t size = 0;
  for (Bytes part = first; size < joined.size() && !part.empty();
       part = read(address + size, word)) {
    part = part.first(std::min(part.size(), joined.size() - size));
    std::ranges::copy(part, std::span(joined).subspan(size).begin());
    size += part.size();
    if (size == joined.size()) break;
  }
  std::ranges::copy(joined, word.begin());
  const bool short_one = isa == isa::Isa::kT32 && size >= 2 &&
                         !isa::is_wide_t32(load_le<std::uint16_t>(joined.data()));
  return size == joined.size() || short_one;
}

}  // namespace waymark::flow
