// Decoding stretches of one trace, and the guesses of states in its middle.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

#include "waymark/parallel/parallel_decoder.h"

namespace waymark::parallel {

/// The trace that one thread decodes before the others begin: enough for every usual source to
/// synchronise, so that there is a state to guess from.
inline constexpr std::size_t kFirstPiece = std::size_t{64} << 10;
inline constexpr std::size_t kLeastWarmUp = std::size_t{2} << 10;
inline constexpr std::size_t kDecodedBatch = 1024;  ///< Elements.

/// The bytes of the frames that `bytes` are in, of memory or of a file.
template <std::unsigned_integral T>
T whole_frames(T bytes) {
  return (bytes + frames::kFrameSize - 1) / frames::kFrameSize * frames::kFrameSize;
}

/// A trace whose first byte is at an index.  Constant, so that several threads may use it.
class Stretches {
 public:
  Stretches(TraceIndex index, Bytes trace) : index_(index), trace_(trace) {}

  [[nodiscard]] std::size_t size() const { return trace_.size(); }
  [[nodiscard]] TraceIndex index_at(std::size_t offset) const { return index_ + offset; }

  /// Decodes the bytes from `from` to `to` and returns where it ended.  It ends earlier if the
  /// piece holds enough, or if the tree failed or refused a block, which can only be the very
  /// first.  If `piece` is null, the elements are dropped.
  std::size_t decode(DecodeTree& tree, std::size_t from, std::size_t to, Piece* piece,
                     std::vector<Element>& batch, std::optional<Error>* refused = nullptr) const {
    tree.set_observer(piece);
    while (from < to && !tree.failed() && (piece == nullptr || piece->held() < Piece::kMostHeld)) {
      const std::size_t size = std::min(kBlock, to - from);
      if (const auto fed = tree.feed(index_ + from, trace_.subspan(from, size)); !fed) {
        if (refused != nullptr) *refused = fed.error();
        break;
      }
      from += size;
      drain(tree, piece, index_ + from, batch);
    }
    tree.set_observer(nullptr);
    return from;
  }

  /// Continues after a piece as long as it wants.
  void complete(DecodeTree& tree, Piece& piece, std::size_t from,
                std::vector<Element>& batch) const {
    tree.set_observer(&piece);
    while (piece.wants_more() && from < trace_.size() && !tree.failed()) {
      const std::size_t size = std::min(kLookAhead, trace_.size() - from);
      if (!tree.feed(index_ + from, trace_.subspan(from, size))) break;
      from += size;
      drain(tree, &piece, index_ + from, batch);
    }
    tree.set_observer(nullptr);
    if (piece.wants_more() && !tree.failed()) finish(tree, piece, batch);
  }

  /// The elements that the tree gives at the end of the trace, or would give if it ended here.
  void finish(DecodeTree& tree, Piece& piece, std::vector<Element>& batch) const {
    tree.set_observer(&piece);
    tree.finish();
    drain(tree, &piece, index_ + trace_.size(), batch);
    tree.set_observer(nullptr);
  }

  /// Brings the tree to `begin`, into the state that is guessed there: from `known`, which was true
  /// at `at`, over the last `warm_up` bytes.  If all bytes since `at` are among these, the state is
  /// true.  The tree then has only the counts of the way, and returns its bytes.
  std::size_t approach(DecodeTree& tree, const DecodeTree& known, std::size_t at, std::size_t begin,
                       std::size_t warm_up, std::vector<Element>& batch,
                       Piece* piece = nullptr) const {
    tree.restore(known);
    tree.reset_statistics();
    std::size_t from = at;
    if (begin - from > warm_up) {
      from = begin - warm_up;
      tree.jump();
    }
    decode(tree, from, begin, piece, batch);
    return begin - from;
  }

 private:
  // The bytes fed at once stay in the second-level cache.  The elements of these bytes must also
  // stay few until the piece is asked how much it holds.
  static constexpr std::size_t kBlock = std::size_t{32} << 10;
  // A piece that wants more gets this many bytes at a time.
  static constexpr std::size_t kLookAhead = std::size_t{1} << 10;

  static void drain(DecodeTree& tree, Piece* piece, TraceIndex end, std::vector<Element>& batch) {
    if (piece != nullptr) return piece->drain(tree, end, batch);
    while (tree.next(batch) != 0) {
    }
  }

  TraceIndex index_;
  Bytes trace_;
};

}  // namespace waymark::parallel
