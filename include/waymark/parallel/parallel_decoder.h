// Decodes one trace on several threads, with the output of one.  See docs/architecture.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "waymark/base/result.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::parallel {

/// The result of one stretch of the trace.  A worker thread fills it, as the observer of its decode
/// tree and with the elements, in their order; then the consumer takes it.
class Piece : public Observer {
 public:
  [[nodiscard]] bool wants_packets() const override { return false; }
  virtual void on_elements(std::span<const Element> elements) = 0;

  /// Takes all that the tree gives, up to the place before `end` in the trace.  A piece that does
  /// not want elements does something else with the sources: DecodeTree::work().  `batch` is space
  /// for elements.  A tree serves one piece at a time, and many in succession.
  virtual void drain(DecodeTree& tree, TraceIndex end, std::span<Element> batch) {
    static_cast<void>(end);
    while (const std::size_t count = tree.next(batch)) on_elements(batch.first(count));
  }

  /// The bytes of memory that it holds; called now and then.  A piece that holds kMostHeld is
  /// ended, and pieces are made so short that most hold less.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  static constexpr std::size_t kMostHeld = std::size_t{16} << 20;

  /// The piece ends here.  What follows belongs to the next one.
  virtual void end() {}
  /// After end(): some of what follows is needed to complete this piece.  Called now and then; at
  /// the end of the trace nothing more comes.
  [[nodiscard]] virtual bool wants_more() const { return false; }
};

/// Takes the pieces.
class Consumer {
 public:
  virtual ~Consumer() = default;
  /// A new empty piece.  Called by any thread, and by several at a time.
  virtual std::unique_ptr<Piece> begin() = 0;
  /// A piece for what SliceDecoder reads just to know the state at the start of a slice.  It asks
  /// again if it has to begin earlier.  nullptr: it is not observed.
  virtual std::unique_ptr<Piece> begin_approach() { return nullptr; }
  /// Takes the pieces in the order of the trace, each exactly as one thread would have filled it;
  /// on the thread that called decode().  Some pieces that begin() made never come: they were
  /// decoded from a wrong guess.  False: no more pieces are wanted.
  virtual bool take(std::unique_ptr<Piece> piece) = 0;
};

struct Options {
  /// 0: as many as the machine has cores.  1: only the caller's thread.  At most kMaxThreads.
  unsigned threads = 0;
  /// The trace in one piece; rounded up to whole frames; 1 KiB to 1 GiB.  A few more than `threads`
  /// pieces are held at a time.
  std::size_t piece_bytes = std::size_t{256} << 10;
};
inline constexpr unsigned kMaxThreads = 256;

/// Statistics of the work, for benchmarks and diagnosis.
struct Statistics {
  unsigned threads = 1;             ///< The most that were used at the same time.
  std::uint64_t pieces = 0;         ///< Taken.
  std::uint64_t redone = 0;         ///< Decoded again because their start was guessed wrong.
  std::uint64_t warm_up_bytes = 0;  ///< Decoded only to know the state at the start of a piece.
};

/// Decodes a trace in pieces on several threads.
///
/// Each worker has a decode tree of its own.  It starts some way before its piece, from a state
/// that was valid earlier in the trace (Source::jump), and decodes up to the piece without
/// output; the synchronisation points on the way restate nearly the whole state.  When the
/// previous piece is done, its end is compared with the guessed start (DecodeTree::same_state).
/// If they are the same, everything that follows is too, because decoding is deterministic;
/// otherwise the piece is decoded again.  So the output is always that of one thread, whatever
/// the trace.  A trace that gives little to guess from (no synchronisation points, damage) only
/// takes longer.
///
/// Sources that cannot jump (DecodeTree::can_jump) are decoded on one thread.
class ParallelDecoder {
 public:
  /// `tree`: the caller's, at the start of the trace.  It must outlive this.  Its image must be
  /// readable from several threads at a time: buffers and files are; callbacks must allow it.
  explicit ParallelDecoder(DecodeTree& tree, const Options& options = {});

  /// Decodes `trace`, whose first byte is at `index`, to its end: the last piece is what
  /// DecodeTree::finish() gives.  Leaves the tree, with its counts, in the state in which one
  /// thread would have left it; if the consumer wanted no more, or the tree failed(), in the state
  /// after the last piece that was taken.  The tree then has no observer.
  ///
  /// kInvalidArgument: as for DecodeTree::feed(), with nothing decoded; kLimit: memory ran out, and
  /// the tree is in the state after the last piece that was taken.
  Result<void> decode(TraceIndex index, Bytes trace, Consumer& consumer);

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  class Run;

  DecodeTree& tree_;
  Options options_;
  Statistics statistics_;
};

}  // namespace waymark::parallel
