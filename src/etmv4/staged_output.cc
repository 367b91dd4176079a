#include "waymark/etmv4/staged_output.h"

#include <algorithm>

namespace waymark::etmv4 {

bool StagedOutput::give() {
  const std::size_t count = std::min(released_ - taken_, static_cast<std::size_t>(end_ - at_));
  std::copy_n(staged_.begin() + static_cast<std::ptrdiff_t>(taken_), count, at_);
  at_ += count;
  taken_ += count;
  if (taken_ != released_) return false;
  staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(released_));
  taken_ = released_ = 0;
  return true;
}

}  // namespace waymark::etmv4
