// Counting on several threads: the consumer that ParallelDecoder needs for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "waymark/count/counter.h"
#include "waymark/count/part.h"
#include "waymark/parallel/parallel_decoder.h"

namespace waymark::parallel {

/// Counts each source of a tree.  The counts are those of one thread, except for edges and cycles
/// where limits of count::Counter were exceeded.
class CountingConsumer final : public Consumer {
 public:
  /// The size of a piece: at the end of each, all its counts are put in order.
  static constexpr std::size_t kPieceBytes = std::size_t{2} << 20;

  /// `tree`: that of the ParallelDecoder; it must outlive this.  `taken` is called with the end of
  /// each piece, and returns whether more is wanted.
  explicit CountingConsumer(DecodeTree& tree, std::function<bool(TraceIndex)> taken = {});

  /// As count::Counter::set_tasks(); call it before decoding begins.
  void set_tasks(const image::ImageSelector* selector, count::Counter::TaskFilter filter = {});
  /// As count::Counter::set_targets(); call it before decoding begins.
  void set_targets(count::Counter::FindTarget find) { find_target_ = std::move(find); }

  std::unique_ptr<Piece> begin() override;
  bool take(std::unique_ptr<Piece> piece) override;

  /// The counts of a piece that it made and that has ended, by source in the order of
  /// DecodeTree::sources(); for callers that combine pieces themselves.
  static std::vector<count::Part> take_parts(Piece& piece);

  /// The counts of a source of the tree; call it once for each source.
  count::Counts take_counts(const Source& source);

 private:
  class Counted;
  using Counters = std::map<const Source*, count::Counter>;
  Counters& counters_of(const DecodeTree& tree);

  std::function<bool(TraceIndex)> taken_;
  const image::ImageSelector* selector_ = nullptr;
  count::Counter::TaskFilter filter_;
  count::Counter::FindTarget find_target_;
  std::vector<const Source*> sources_;  ///< Those of the tree, ascending by ID, as in its copies.
  std::vector<count::Stitcher> stitchers_;
  std::mutex mutex_;
  /// The counters' knowledge of the program is needed again, so they stay with the copy of the
  /// tree.
  std::map<const DecodeTree*, Counters> counters_;
};

}  // namespace waymark::parallel
