#include "waymark/inputs/live_capture.h"

namespace waymark::inputs {

PipeStream::PipeStream(InputStream input)
    : input_(std::move(input)), block_(std::size_t{64} << 10) {}

Result<live::Piece> PipeStream::next(live::Milliseconds patience) {
  const auto ready = input_.wait(patience);
  if (!ready) return std::unexpected(ready.error());
  if (!*ready) return live::Piece{.kind = live::PieceKind::kIdle};
  const auto size = input_.read(block_);
  if (!size) return std::unexpected(size.error());
  if (*size == 0) return live::Piece{.kind = live::PieceKind::kEnd};
  return live::Piece{.kind = live::PieceKind::kBytes,
                     .bytes = Bytes(block_).first(*size),
                     .arrival = live::arrival_now()};
}

}  // namespace waymark::inputs
