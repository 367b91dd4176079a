// Decodes one trace in slices, each by a process of its own if it must be, and proves that together
// they give what one pass gives.  See docs/architecture.md.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/parallel/parallel_decoder.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::parallel {

/// The facts that a slice knows about its end, where the next one begins.
struct Seam {
  struct OfSource {
    TraceId id = 0;
    /// It had bytes in the slice, or was reset there.  False: its state at the end is that at the
    /// beginning, and the slice says nothing about it.
    bool active = true;
    /// Its state is the one that the next slice guesses.  True at the end of the trace.
    bool holds = false;
    friend bool operator==(const OfSource&, const OfSource&) = default;
  };
  bool framing = false;             ///< The same for the frames.
  std::vector<OfSource> sources{};  ///< In the order of DecodeTree::sources().
  friend bool operator==(const Seam&, const Seam&) = default;

  /// Whether its sources are those of the tree.
  [[nodiscard]] bool is_of(const DecodeTree& tree) const;
};

struct Slice {
  std::vector<std::unique_ptr<Piece>> pieces{};  ///< More than one if they hold much.
  /// The elements that the sources would give if the trace ended after the slice.
  std::unique_ptr<Piece> end{};
  Seam seam{};
};

/// kUnsupported: why the trace cannot be decoded in slices, as the end of a sentence.
Result<void> check_slices(const DecodeTree& tree, std::uint64_t trace_bytes);

/// Where slices of about `slice_bytes` begin, and where the last one ends.
std::vector<std::uint64_t> slice_limits(std::uint64_t trace_bytes, std::uint64_t slice_bytes);

/// Besides a slice, its guess reads at most this many bytes at the start of the trace,
inline constexpr std::size_t kSliceStart = std::size_t{64} << 10;
/// and this many before the slice.
std::uint64_t most_warm_up(std::uint64_t slice_bytes);

/// Decodes any slice of a trace.
///
/// The state at its beginning is guessed: from the state after the first bytes of the trace, over
/// the bytes just before the slice, more of them as long as they have no synchronisation points.
/// So the guess depends only on the trace and the limits, and every process makes the same one.
/// At the end of a slice, the guess for the next one is made as well, and compared.
class SliceDecoder {
 public:
  /// `tree`: the caller's, at the start of the trace; it and the trace must outlive this.
  /// `limits`: those of all slices.  `step`: called now and then with the place that was reached;
  /// false: stop.
  SliceDecoder(const DecodeTree& tree, TraceIndex index, Bytes trace,
               const std::vector<std::uint64_t>& limits, std::function<bool(TraceIndex)> step = {});
  ~SliceDecoder();
  SliceDecoder(const SliceDecoder&) = delete;
  SliceDecoder& operator=(const SliceDecoder&) = delete;

  [[nodiscard]] std::size_t count() const { return limits_.size() - 1; }

  /// Decodes a slice from the guess at its beginning.  The consumer only makes the pieces.  If
  /// `step` said stop, the slice is incomplete: see stopped().
  Slice decode(std::size_t number, Consumer& consumer);
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  friend class SliceJoiner;
  class Trace;

  /// `consumer`: sees what is read for the guess.
  void guess(DecodeTree& tree, std::size_t number, Consumer* consumer = nullptr);
  void pass(DecodeTree& tree, std::size_t number);
  Slice decode_from(std::size_t number, Consumer& consumer);

  std::unique_ptr<Trace> trace_;
  std::vector<std::size_t> limits_;
  std::function<bool(TraceIndex)> step_;
  std::unique_ptr<DecodeTree> start_;  ///< At the start of the trace.
  std::unique_ptr<DecodeTree> known_;  ///< After the first bytes; nullptr: not decoded yet.
  std::unique_ptr<DecodeTree> work_;   ///< Decodes the slices.
  std::unique_ptr<DecodeTree> ahead_;  ///< Guesses the states at their ends.
  std::unique_ptr<DecodeTree> end_;    ///< The state after the last slice that was decoded.
  bool stopped_ = false;
};

/// Takes what the slices know about their ends, in their order, and says which of them began with a
/// wrong state and must be decoded again.  It does this from the last place whose state is known.
class SliceJoiner {
 public:
  /// `decoder` must outlive this.
  explicit SliceJoiner(SliceDecoder& decoder);

  /// Whether what the next slice gave is right.  If not, decode_again() gives what is.
  [[nodiscard]] bool fits(const Seam& seam) const;

  /// The slices that decode_again() would read, ascending; also of each slice what its shard reads
  /// before it.
  [[nodiscard]] std::vector<std::size_t> reads() const;

  /// Takes a slice that fits.
  void take(const Seam& seam);
  /// Decodes the next slice from its true state.
  Slice decode_again(Consumer& consumer);

  /// After take() or decode_again(): by source, whether Slice::end is what the source gives if the
  /// trace has no more of it.  The last one of each source belongs to the result.
  [[nodiscard]] const std::vector<bool>& ends() const { return ends_; }
  /// How many slices were decoded again.
  [[nodiscard]] std::size_t again() const { return again_; }

 private:
  /// Where the true state of a source at the beginning of the next slice comes from.
  struct Origin {
    enum class Kind : std::uint8_t {
      kGuess,  ///< The guess is right.
      kSlice,  ///< It is the state after a slice whose guess is right: `slice`.
      kHeld,   ///< It is in `held_`.
    };
    Kind kind = Kind::kGuess;
    std::size_t slice = 0;
  };

  /// Those at whose end the true state of a source or of the frames is.
  [[nodiscard]] std::vector<std::size_t> slices_before() const;
  void restore_truth(DecodeTree& tree);

  SliceDecoder& decoder_;
  std::size_t next_ = 0;
  Origin framing_{};
  std::vector<Origin> origins_;
  std::vector<bool> ends_;
  std::unique_ptr<DecodeTree> held_;  ///< After the last slice that was decoded again.
  std::size_t again_ = 0;
};

}  // namespace waymark::parallel
