// The trace unit's return stack as the decoder mirrors it.  See isa-waypoints.md 6.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/flow/follower.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// 16 entries, circular: a push beyond them overwrites the oldest.
class ReturnStack {
 public:
  struct Entry {
    std::uint64_t address = 0;
    isa::Isa isa = isa::Isa::kUnknown;
    /// The block that made the call, as a hint: its [0] link is the block at `address`.  The code
    /// that sets it must know whether the block still exists.
    BlockPointer caller;
  };

  void push(std::uint64_t address, isa::Isa isa, const Block* caller = nullptr) {
    top_ = (top_ + 1) % kDepth;
    Entry& entry = entries_[top_];
    entry.address = address;
    entry.isa = isa;
    entry.caller = caller;
    if (count_ < kDepth) ++count_;
  }

  /// False: the stack is empty.
  bool pop(Entry& out) {
    const Entry* top = pop();
    if (top != nullptr) out = *top;
    return top != nullptr;
  }
  /// The same without a copy; valid until the next push().  nullptr: the stack is empty.
  const Entry* pop() {
    if (count_ == 0) return nullptr;
    const Entry* top = &entries_[top_];
    top_ = (top_ + kDepth - 1) % kDepth;
    --count_;
    return top;
  }

  void clear() { count_ = 0; }
  void forget_callers() {
    for (Entry& entry : entries_) entry.caller = nullptr;
  }
  [[nodiscard]] unsigned size() const { return count_; }

  static constexpr unsigned kDepth = 16;

  /// The entries that can be popped are the same; callers are hints and are not compared.
  friend bool operator==(const ReturnStack& a, const ReturnStack& b) {
    if (a.count_ != b.count_) return false;
    for (unsigned i = 0; i < a.count_; ++i) {
      const Entry& of_a = a.entries_[(a.top_ + kDepth - i) % kDepth];
      const Entry& of_b = b.entries_[(b.top_ + kDepth - i) % kDepth];
      if (of_a.address != of_b.address || of_a.isa != of_b.isa) return false;
    }
    return true;
  }

 private:
  std::array<Entry, kDepth> entries_;
  unsigned top_ = 0;  ///< That of the newest entry, when count_ > 0.
  unsigned count_ = 0;
};

}  // namespace waymark::flow
