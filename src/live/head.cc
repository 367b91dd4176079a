#include "waymark/live/head.h"

#include <utility>

namespace waymark::live {

Result<PieceKind> Head::read_more(Milliseconds patience) {
  if (ended_) return PieceKind::kEnd;
  const auto piece = stream_->next(patience);
  if (!piece) return std::unexpected(piece.error());
  if (piece->kind == PieceKind::kIdle) return piece->kind;
  bytes_.insert(bytes_.end(), piece->bytes.begin(), piece->bytes.end());
  kept_.push_back({.kind = piece->kind, .size = piece->bytes.size(), .arrival = piece->arrival});
  ended_ = piece->kind == PieceKind::kEnd;
  return piece->kind;
}

Result<Piece> Head::next(Milliseconds patience) {
  if (!kept_.empty()) {
    const Kept kept = kept_.front();
    kept_.pop_front();
    const Bytes bytes = Bytes(bytes_).subspan(given_, kept.size);
    given_ += kept.size;
    return Piece{.kind = kept.kind, .bytes = bytes, .arrival = kept.arrival};
  }
  if (ended_) return Piece{.kind = PieceKind::kEnd};
  if (!bytes_.empty()) bytes_ = {};
  return stream_->next(patience);
}

}  // namespace waymark::live
