// Cuts the blocks of a capture, so that keyframes can be between them.
#pragma once

#include <cstddef>
#include <optional>

#include "waymark/base/types.h"
#include "waymark/inputs/capture.h"

namespace waymark::view {

/// One owner; not thread safe.
class BlockCutter {
 public:
  /// The capture goes on at `index`, and no place is a limit.
  void begin(TraceIndex index);
  /// No block goes beyond this place.
  void set_limit(TraceIndex limit) { limit_ = limit; }

  /// The next block, of at most `most` bytes; nothing: the capture has ended.
  std::optional<inputs::TraceBlock> next(inputs::Capture& capture, std::size_t most);

  /// Where the last block that was decoded ended.
  [[nodiscard]] TraceIndex index() const { return index_; }
  /// A block was decoded.
  void passed(const inputs::TraceBlock& block) { index_ = block.index + block.bytes.size(); }

 private:
  inputs::TraceBlock rest_{};  ///< The rest of a block of the capture.
  TraceIndex limit_ = kNoIndex;
  TraceIndex index_ = 0;
};

}  // namespace waymark::view
