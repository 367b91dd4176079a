#include "waymark/frames/segment_memory.h"

#include <algorithm>

namespace waymark::frames {
namespace {

std::uint8_t* put_word(std::uint8_t* at, std::uint64_t value) {
  for (unsigned i = 0; i < 4; ++i) *at++ = static_cast<std::uint8_t>(value >> (8 * i));
  return at;
}

}  // namespace

void SegmentMemory::fill(const Frame& frame) {
  std::uint8_t* slot = bytes_.data();
  for (const Segment& segment : frame.view()) {
    std::uint8_t* at = put_word(slot, segment.index);
    *at++ = segment.id;
    std::ranges::copy(segment.bytes(), at);
    put_word(put_word(at + kPlainFrameBytes, segment.size), 0);
    slot += kSlotSize;
  }
}

}  // namespace waymark::frames
