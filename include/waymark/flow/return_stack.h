// The trace unit's return stack as the decoder mirrors it.  Fact sheet isa-waypoints.md section 6.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// 16 entries, circular: a push beyond them overwrites the oldest.
class ReturnStack {
 public:
  struct Entry {
    std::uint64_t address = 0;
    isa::Isa isa = isa::Isa::kUnknown;
  };

  void push(std::uint64_t address, isa::Isa isa) {
    top_ = (top_ + 1) % kDepth;
    entries_[top_] = {address, isa};
    if (count_ < kDepth) ++count_;
  }

  /// False: the stack is empty.
  bool pop(Entry& out) {
    if (count_ == 0) return false;
    out = entries_[top_];
    top_ = (top_ + kDepth - 1) % kDepth;
    --count_;
    return true;
  }

  void clear() { count_ = 0; }
  [[nodiscard]] unsigned size() const { return count_; }

  static constexpr unsigned kDepth = 16;

 private:
  std::array<Entry, kDepth> entries_;
  unsigned top_ = 0;  ///< Of the newest entry, when count_ > 0.
  unsigned count_ = 0;
};

}  // namespace waymark::flow
