#include "waymark/etmv3/reference_queue.h"

#include <bit>
#include <utility>

namespace waymark::etmv3 {

// The elements move to the front of a queue that is half as large again.
void QueueSlots::grow() {
  const auto begin = slots_.begin() + 1;
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(first_), slots_.end());
  slots_.resize(1 + size() + size() / 2);
  first_ = 0;
}

void GivenElements::grow(std::size_t slots) {
  std::vector<Element> kept;
  kept.reserve(std::bit_ceil(slots));
  for (std::size_t i = 0; i < size(); ++i) kept.push_back((*this)[i]);
  count_ = kept.size();
  kept.resize(std::bit_ceil(slots));
  mask_ = kept.size() - 1;
  ring_ = std::move(kept);
}

}  // namespace waymark::etmv3
