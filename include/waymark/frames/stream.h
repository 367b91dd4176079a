// A block of one source's bytes with the capture offsets of its parts: what every packet parser
// reads.
#pragma once

#include <vector>

#include "waymark/base/types.h"

namespace waymark::frames {

/// From `position` in a block on, bytes come from the capture offset `index` onwards.  A run is also
/// one input call in the sense of the sheets' unsynchronised-state rules.
struct Run {
  std::size_t position = 0;
  TraceIndex index = 0;
};

/// Contiguous bytes of one trace ID.  `runs` is in order of position, its first at position 0, and
/// is empty only for an empty block.  Views: whoever made the block keeps the memory.
struct StreamBlock {
  Bytes bytes;
  std::span<const Run> runs;
};

/// A block that owns its memory; the demultiplexer appends to it.
class StreamBuffer {
 public:
  void append(TraceIndex index, Bytes bytes) {
    if (bytes.empty()) return;
    runs_.push_back({bytes_.size(), index});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void clear() {
    bytes_.clear();
    runs_.clear();
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] StreamBlock block() const { return {bytes_, runs_}; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<Run> runs_;
};

}  // namespace waymark::frames
