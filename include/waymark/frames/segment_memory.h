// The memory of the reference's deformatter after the bytes of a segment: it shows them where
// it counts bytes beyond the end of the segment.  See frames.md 1.2.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/frames/demux.h"

namespace waymark::frames {

/// One slot for each segment of a frame, filled again by each frame.
class SegmentMemory {
 public:
  void fill(const Frame& frame);

  /// The data of segment `i`, and everything after it.  Valid until the next fill().
  [[nodiscard]] Bytes from(std::size_t i) const {
    return Bytes(bytes_).subspan(i * kSlotSize + kData);
  }

 private:
  // A slot: the index in 32 bits, the ID, 15 data bytes, their number and 0 in 32 bits each.
  static constexpr std::size_t kData = 5;
  static constexpr std::size_t kSlotSize = kData + kPlainFrameBytes + 8;

  std::array<std::uint8_t, kMaxSegments * kSlotSize> bytes_{};
};

}  // namespace waymark::frames
