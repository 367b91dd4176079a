#include "run_reader.h"

#include <fmt/format.h>

#include "waymark/inputs/trace_name.h"

namespace waymark::cli {

Result<std::span<const Element>> RunReader::next() {
  DecodeTree& tree = capture_->tree();
  while (true) {
    if (const std::size_t count = tree.next(batch_); count != 0)
      return std::span<const Element>(batch_).first(count);
    if (tree.failed()) {
      return fail(ErrorCode::kBadData, fmt::format("{}: decoding cannot continue after byte {}.",
                                                   inputs::trace_name(*capture_), read_));
    }
    if (finishing_) return std::span<const Element>();
    const auto block = capture_->next_block();
    if (!block) {
      tree.finish();
      finishing_ = true;
      continue;
    }
    if (const auto fed = tree.feed(block->index, block->bytes); !fed)
      return std::unexpected(fed.error());
    read_ = block->index + block->bytes.size();
  }
}

}  // namespace waymark::cli
