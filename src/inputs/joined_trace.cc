#include "waymark/inputs/joined_trace.h"

#include <algorithm>
#include <iterator>

#include "waymark/frames/demux.h"
#include "waymark/inputs/capture.h"

namespace waymark::inputs {

std::optional<JoinedTrace::Place> JoinedTrace::place(TraceIndex index) const {
  const auto after = std::ranges::upper_bound(parts, index, {}, &Part::begin);
  if (after == parts.begin()) return std::nullopt;
  const Part& part = *std::prev(after);
  const Buffer& buffer = buffers[part.buffer];
  std::uint64_t inside = index - part.begin;
  if (buffer.framing == Framing::kNone) {
    // The first frame of a part has an ID byte, whose index its first segment has.
    const std::uint64_t frame = inside / frames::kFrameSize;
    inside -= frame == 0 ? 0 : frame + 1;
  }
  return Place{.buffer = &buffer, .offset = std::min(part.offset + inside, buffer.bytes)};
}

}  // namespace waymark::inputs
