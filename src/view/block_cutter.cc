#include "block_cutter.h"

namespace waymark::view {

void BlockCutter::begin(TraceIndex index) {
  rest_ = {};
  limit_ = kNoIndex;
  index_ = index;
}

std::optional<inputs::TraceBlock> BlockCutter::next(inputs::Capture& capture, std::size_t most) {
  if (rest_.bytes.empty()) {
    const auto block = capture.next_block();
    if (!block) return std::nullopt;
    rest_ = *block;
  }
  inputs::TraceBlock block = rest_;
  if (block.bytes.size() > most) block.bytes = block.bytes.first(most);
  if (limit_ > block.index && limit_ - block.index < block.bytes.size())
    block.bytes = block.bytes.first(static_cast<std::size_t>(limit_ - block.index));
  rest_.index += block.bytes.size();
  rest_.bytes = rest_.bytes.subspan(block.bytes.size());
  return block;
}

}  // namespace waymark::view
