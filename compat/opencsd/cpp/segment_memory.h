// The memory after the bytes that a frame deformatter delivers, for the engine that receives them:
// the interfaces between the two pass only the bytes.
#pragma once

#include "waymark/base/types.h"

namespace waymark::compat {

/// While it exists, delivered_memory() finds `memory`.  One for each delivery of a thread.
class MemoryScope {
 public:
  explicit MemoryScope(Bytes memory) : before_(current()) { current() = memory; }
  ~MemoryScope() { current() = before_; }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  friend Bytes delivered_memory(Bytes block);
  static Bytes& current();

  Bytes before_;
};

/// The block and what is after it, if a deformatter of this thread delivers it; otherwise nothing.
Bytes delivered_memory(Bytes block);

}  // namespace waymark::compat
