#include "waymark/parallel/parallel_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace waymark::parallel {
namespace {

constexpr std::size_t kBatch = 1024;
// A block that is fed at once stays in the second-level cache.
constexpr std::size_t kBlock = std::size_t{256} << 10;
// What one thread decodes before the others begin: enough for every usual source to synchronise, so
// that there is a state to guess from.
constexpr std::size_t kFirstPiece = std::size_t{64} << 10;
constexpr std::size_t kLeastPiece = std::size_t{1} << 10;
constexpr std::size_t kLeastWarmUp = std::size_t{2} << 10;
// Of the distance between two synchronisation points: two of them, at least one and the packets
// behind it, lie in such a stretch nearly always.
constexpr std::size_t kSyncPeriods = 3;
// A piece that wants more gets so much at a time.
constexpr std::size_t kLookAhead = std::size_t{1} << 10;
// A warm-up is work that one thread would not have: pieces are so many times longer, if that does
// not make them more than so many times as long as was asked for.
constexpr std::size_t kWarmUpsInPiece = 32;
constexpr std::size_t kMostStretching = 4;
// After so many wrong guesses in a row, longer warm-ups.
constexpr unsigned kManyWrong = 4;

void drain(DecodeTree& tree, Piece* piece, std::vector<Element>& batch) {
  while (const std::size_t count = tree.next(batch)) {
    if (piece != nullptr) piece->on_elements(std::span<const Element>(batch).first(count));
  }
}

/// Decodes the bytes from `from` to `to`; `trace` begins at offset `base` of the capture.  An error
/// is one of the first feed().
Result<void> decode_stretch(DecodeTree& tree, TraceIndex base, Bytes trace, std::size_t from,
                            std::size_t to, Piece* piece, std::vector<Element>& batch) {
  tree.set_observer(piece);
  Result<void> fed;
  while (fed && from < to && !tree.failed()) {
    const std::size_t size = std::min(kBlock, to - from);
    fed = tree.feed(base + from, trace.subspan(from, size));
    if (fed) drain(tree, piece, batch);
    from += size;
  }
  tree.set_observer(nullptr);
  return fed;
}

}  // namespace

/// One call of decode().  The lock guards everything that is not said to be otherwise.
class ParallelDecoder::Run {
 public:
  Run(DecodeTree& tree, const Options& options, Statistics& statistics, TraceIndex index,
      Bytes trace, Consumer& consumer, unsigned threads)
      : tree_(tree),
        statistics_(statistics),
        index_(index),
        trace_(trace),
        consumer_(consumer),
        threads_(threads),
        piece_bytes_(options.piece_bytes),
        slots_(std::size_t{2} + threads) {}

  Result<void> decode() {
    batch_.resize(kBatch);
    first_end_ =
        threads_ == 1 ? 0 : std::min({kFirstPiece, whole_frames(piece_bytes_), trace_.size()});
    Result<bool> goes_on = true;
    if (first_end_ != 0) goes_on = decode_here(0, first_end_);
    if (goes_on && *goes_on) {
      plan();
      goes_on = threads_ == 1 || piece_count_ < 2 ? decode_alone() : decode_with_threads();
    }
    if (!goes_on) return std::unexpected(goes_on.error());
    if (!*goes_on) return {};
    auto last = consumer_.begin();
    finish(tree_, *last, batch_);
    last->end();
    ++statistics_.pieces;
    static_cast<void>(consumer_.take(std::move(last)));
    return {};
  }

 private:
  /// What a worker made of a piece.
  struct Done {
    std::unique_ptr<DecodeTree> begin;  ///< Before it, as guessed.
    std::unique_ptr<DecodeTree> end;    ///< After it, with the counts of it alone.
    std::unique_ptr<Piece> piece;
    std::size_t warm_up = 0;
  };

  [[nodiscard]] std::size_t begin_of(std::size_t piece) const {
    return first_end_ + piece * piece_bytes_;
  }
  [[nodiscard]] std::size_t end_of(std::size_t piece) const {
    return std::min(trace_.size(), begin_of(piece) + piece_bytes_);
  }

  /// On the caller's thread and tree.  False: it is to stop.
  Result<bool> decode_here(std::size_t from, std::size_t to) {
    auto piece = consumer_.begin();
    WAYMARK_TRY(decode_stretch(tree_, index_, trace_, from, to, piece.get(), batch_));
    piece->end();
    if (piece->wants_more()) complete(*tree_.clone(), *piece, to, batch_);
    ++statistics_.pieces;
    return consumer_.take(std::move(piece)) && !tree_.failed();
  }

  /// Goes on behind a piece as long as it wants.
  void complete(DecodeTree& tree, Piece& piece, std::size_t from,
                std::vector<Element>& batch) const {
    while (piece.wants_more() && from < trace_.size() && !tree.failed()) {
      const std::size_t to = std::min(from + kLookAhead, trace_.size());
      static_cast<void>(decode_stretch(tree, index_, trace_, from, to, &piece, batch));
      from = to;
    }
    if (!piece.wants_more() || tree.failed()) return;
    finish(tree, piece, batch);
  }

  static void finish(DecodeTree& tree, Piece& piece, std::vector<Element>& batch) {
    tree.set_observer(&piece);
    tree.finish();
    drain(tree, &piece, batch);
    tree.set_observer(nullptr);
  }

  Result<bool> decode_alone() {
    for (std::size_t i = 0; i < piece_count_; ++i) {
      const auto goes_on = decode_here(begin_of(i), end_of(i));
      if (!goes_on || !*goes_on) return goes_on;
    }
    return true;
  }

  /// False: it was to stop.
  bool decode_with_threads() {
    known_ = tree_.clone();
    known_at_ = first_end_;
    std::vector<std::thread> workers;
    const unsigned count = static_cast<unsigned>(std::min<std::size_t>(threads_, piece_count_));
    statistics_.threads = std::max(statistics_.threads, count);
    for (unsigned i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    const bool whole = commit_all();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_all();
    for (std::thread& worker : workers) worker.join();
    return whole;
  }

  void plan() {
    const std::uint64_t syncs = std::max<std::uint64_t>(1, least_syncs());
    warm_up_ = std::max(kLeastWarmUp, whole_frames(kSyncPeriods * first_end_ / syncs));
    piece_bytes_ = whole_frames(piece_bytes_);
    most_warm_up_ = kMostStretching * piece_bytes_;
    piece_bytes_ = std::clamp(kWarmUpsInPiece * warm_up_, piece_bytes_, most_warm_up_);
    piece_count_ = (trace_.size() - first_end_ + piece_bytes_ - 1) / piece_bytes_;
  }

  static std::size_t whole_frames(std::size_t bytes) {
    return (bytes + frames::kFrameSize - 1) / frames::kFrameSize * frames::kFrameSize;
  }

  /// Of the source that has the fewest, among those that have any.
  [[nodiscard]] std::uint64_t least_syncs() const {
    std::uint64_t least = 0;
    for (const Source* source : tree_.sources()) {
      const std::uint64_t count = source->statistics().sync_points;
      if (count != 0 && (least == 0 || count < least)) least = count;
    }
    return least;
  }

  void work() {
    std::unique_ptr<DecodeTree> tree = tree_prototype();
    std::vector<Element> batch(kBatch);
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [this] {
        return stopping_ || next_ >= piece_count_ || next_ < committed_ + slots_.size();
      });
      if (stopping_ || next_ >= piece_count_) return;
      const std::size_t number = next_++;
      const std::shared_ptr<const DecodeTree> known = known_;
      const std::size_t known_at = known_at_;
      const std::size_t warm_up = warm_up_;
      lock.unlock();
      Done done = decode_guess(*tree, batch, number, *known, known_at, warm_up);
      lock.lock();
      slots_[number % slots_.size()] = std::move(done);
      done_.notify_one();
    }
  }

  std::unique_ptr<DecodeTree> tree_prototype() {
    const std::lock_guard lock(mutex_);
    return known_->clone();
  }

  Done decode_guess(DecodeTree& tree, std::vector<Element>& batch, std::size_t number,
                    const DecodeTree& known, std::size_t known_at, std::size_t warm_up) {
    const std::size_t begin = begin_of(number);
    Done done;
    tree.restore(known);
    std::size_t from = known_at;
    if (begin - known_at > warm_up) {
      from = begin - warm_up;
      tree.jump();
    }
    done.warm_up = begin - from;
    // feed() can refuse nothing here: decode() has seen to size and place.
    static_cast<void>(decode_stretch(tree, index_, trace_, from, begin, nullptr, batch));
    tree.reset_statistics();
    done.begin = tree.clone();
    done.piece = consumer_.begin();
    static_cast<void>(
        decode_stretch(tree, index_, trace_, begin, end_of(number), done.piece.get(), batch));
    done.end = tree.clone();
    done.piece->end();
    complete(tree, *done.piece, end_of(number), batch);
    return done;
  }

  /// False: it was to stop.
  bool commit_all() {
    std::shared_ptr<const DecodeTree> truth = known_;
    unsigned wrong = 0;
    bool goes_on = true;
    for (std::size_t number = 0; goes_on && number < piece_count_; ++number) {
      Done done;
      {
        std::unique_lock lock(mutex_);
        auto& slot = slots_[number % slots_.size()];
        done_.wait(lock, [&] { return slot.piece != nullptr; });
        done = std::move(slot);
        slot = {};
      }
      ++statistics_.pieces;
      statistics_.warm_up_bytes += done.warm_up;
      if (guessed_right(done, *truth)) {
        wrong = 0;
      } else {
        ++statistics_.redone;
        redo(number, *truth, done);
        lengthen(++wrong);
      }
      tree_.add_statistics(*done.end);
      truth = std::move(done.end);
      goes_on = consumer_.take(std::move(done.piece)) && !truth->failed();
      {
        const std::lock_guard lock(mutex_);
        known_ = truth;
        known_at_ = end_of(number);
        committed_ = number + 1;
      }
      room_.notify_all();
    }
    tree_.restore(*truth);
    return goes_on;
  }

  /// A source that had no bytes in the piece need not be where it was guessed: it stays where it
  /// is.
  static bool guessed_right(const Done& done, const DecodeTree& truth) {
    if (!done.begin->same_framing(truth)) return false;
    const auto begins = done.begin->sources();
    const auto ends = done.end->sources();
    const auto truths = truth.sources();
    const auto idle = [&](std::size_t i) { return ends[i]->statistics().total_bytes == 0; };
    for (std::size_t i = 0; i < truths.size(); ++i)
      if (!idle(i) && !begins[i]->same_state(*truths[i])) return false;
    for (std::size_t i = 0; i < truths.size(); ++i)
      if (idle(i)) ends[i]->restore(*truths[i]);
    return true;
  }

  void redo(std::size_t number, const DecodeTree& truth, Done& done) {
    if (redoing_ == nullptr) redoing_ = truth.clone();
    redoing_->restore(truth);
    redoing_->reset_statistics();
    done.piece = consumer_.begin();
    static_cast<void>(decode_stretch(*redoing_, index_, trace_, begin_of(number), end_of(number),
                                     done.piece.get(), batch_));
    done.end = redoing_->clone();
    done.piece->end();
    complete(*redoing_, *done.piece, end_of(number), batch_);
  }

  void lengthen(unsigned wrong) {
    const std::lock_guard lock(mutex_);
    if (wrong % kManyWrong == 0) warm_up_ = std::min(2 * warm_up_, most_warm_up_);
  }

  DecodeTree& tree_;        ///< The caller's; only its thread touches it.
  Statistics& statistics_;  ///< As tree_.
  const TraceIndex index_;
  const Bytes trace_;
  Consumer& consumer_;
  const unsigned threads_;
  std::vector<Element> batch_;           ///< As tree_.
  std::unique_ptr<DecodeTree> redoing_;  ///< As tree_.

  // Constant once workers run.
  std::size_t first_end_ = 0;
  std::size_t piece_bytes_;
  std::size_t piece_count_ = 0;
  std::size_t most_warm_up_ = 0;

  std::mutex mutex_;
  std::condition_variable room_;  ///< A slot may be filled, or all is over.
  std::condition_variable done_;  ///< A slot was filled.
  std::vector<Done> slots_;
  std::size_t next_ = 0;                     ///< The first piece that nobody has begun.
  std::size_t committed_ = 0;                ///< Pieces that were taken.
  std::shared_ptr<const DecodeTree> known_;  ///< What is known to be true at known_at_.
  std::size_t known_at_ = 0;
  std::size_t warm_up_ = 0;
  bool stopping_ = false;
};

ParallelDecoder::ParallelDecoder(DecodeTree& tree, const Options& options)
    : tree_(tree), options_(options) {
  if (options_.threads == 0) options_.threads = std::max(1U, std::thread::hardware_concurrency());
  options_.threads = std::min(options_.threads, kMaxThreads);
  options_.piece_bytes = std::max(options_.piece_bytes, kLeastPiece);
}

Result<void> ParallelDecoder::decode(TraceIndex index, Bytes trace, Consumer& consumer) {
  if (trace.size() % tree_.alignment() != 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The trace at offset {} has {} bytes; this framing takes multiples of "
                            "{} bytes.",
                            index, trace.size(), tree_.alignment()));
  }
  const unsigned threads = tree_.can_jump() ? options_.threads : 1;
  return Run(tree_, options_, statistics_, index, trace, consumer, threads).decode();
}

}  // namespace waymark::parallel
