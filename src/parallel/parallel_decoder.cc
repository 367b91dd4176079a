#include "waymark/parallel/parallel_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "handover.h"
#include "stretches.h"

namespace waymark::parallel {
namespace {

constexpr std::size_t kLeastPiece = std::size_t{1} << 10;
constexpr std::size_t kMostPiece = std::size_t{1} << 30;
// In units of the distance between two synchronisation points: such a stretch nearly always
// contains two of them, and at least one with the packets after it.
constexpr std::size_t kSyncPeriods = 3;
// A warm-up is work that one thread would not have.  Pieces are made longer than it by the first
// factor, unless they would exceed the requested length by the second.
constexpr std::size_t kWarmUpsInPiece = 64;
constexpr std::size_t kMostStretching = 4;
// Consecutive wrong guesses after which warm-ups become longer, and one thread does the rest.
constexpr unsigned kManyWrong = 4;
constexpr unsigned kTooManyWrong = 16;

/// The count of the source with the fewest, among those with any.
std::uint64_t least_syncs(const DecodeTree& tree) {
  std::uint64_t least = 0;
  for (const Source* source : tree.sources()) {
    const std::uint64_t count = source->statistics().sync_points;
    if (count != 0 && (least == 0 || count < least)) least = count;
  }
  return std::max<std::uint64_t>(1, least);
}

}  // namespace

/// One call of decode().  The limits of the pieces are settled before the threads start.
class ParallelDecoder::Run {
 public:
  Run(DecodeTree& tree, const Options& options, Statistics& statistics, TraceIndex index,
      Bytes trace, Consumer& consumer, unsigned threads)
      : tree_(tree),
        statistics_(statistics),
        batch_(kDecodedBatch),
        trace_(index, trace),
        consumer_(consumer),
        threads_(threads),
        pieces_{.trace = trace.size(), .bytes = options.piece_bytes},
        handover_(std::size_t{2} + threads) {}

  Result<void> decode() {
    if (threads_ != 1)
      pieces_.first_end = std::min({kFirstPiece, whole_frames(pieces_.bytes), trace_.size()});
    bool goes_on = decode_here(0, pieces_.first_end);
    if (goes_on) {
      plan();
      goes_on = threads_ == 1 || pieces_.count < 2 ? decode_alone(0) : decode_with_threads();
    }
    if (refused_) return std::unexpected(*refused_);
    if (handover_.out_of_memory()) {
      return fail(
          ErrorCode::kLimit,
          fmt::format("Out of memory while {} threads decoded; use fewer threads.", threads_));
    }
    if (!goes_on) return {};
    auto last = consumer_.begin();
    trace_.finish(tree_, *last, batch_);
    last->end();
    ++statistics_.pieces;
    static_cast<void>(consumer_.take(std::move(last)));
    return {};
  }

 private:
  /// Where pieces begin and end.
  struct Pieces {
    std::size_t trace = 0;      ///< Bytes.
    std::size_t first_end = 0;  ///< What is before is decoded before the threads begin.
    std::size_t bytes = 0;      ///< The size of each piece but the last.
    std::size_t count = 0;

    [[nodiscard]] std::size_t begin(std::size_t number) const { return first_end + number * bytes; }
    [[nodiscard]] std::size_t end(std::size_t number) const {
      return std::min(trace, begin(number) + bytes);
    }
  };

  /// The threads; they end with this object.
  class Workers {
   public:
    explicit Workers(Run& run) : run_(run) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers() { stop(); }

    /// Returns the number of threads that the system gave.
    unsigned start(unsigned count) {
      try {
        for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { run_.work(); });
      } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
        // The existing threads do the work.
      }
      return static_cast<unsigned>(threads_.size());
    }
    void stop() {
      run_.handover_.stop();
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
    }

   private:
    Run& run_;
    std::vector<std::thread> threads_;
  };

  void plan() {
    const std::size_t asked = whole_frames(pieces_.bytes);
    warm_up_ =
        std::max(kLeastWarmUp,
                 whole_frames(in_memory(kSyncPeriods * pieces_.first_end / least_syncs(tree_))));
    most_warm_up_ = kMostStretching * asked;
    pieces_.bytes = std::clamp(kWarmUpsInPiece * warm_up_, asked, most_warm_up_);
    if (density_ != 0) {
      const std::size_t usual = whole_frames(Piece::kMostHeld / 2 / density_);
      pieces_.bytes = std::clamp(usual, kLeastPiece, pieces_.bytes);
    }
    pieces_.count = (trace_.size() - pieces_.first_end + pieces_.bytes - 1) / pieces_.bytes;
  }

  // -- Any thread --

  /// Starts at the position of the tree, whose counts are 0.
  void decode_piece(DecodeTree& tree, std::size_t from, std::size_t to, Done& done,
                    std::vector<Element>& batch) {
    const std::uint64_t resets = tree.resets();
    done.piece = consumer_.begin();
    done.end_at = trace_.decode(tree, from, to, done.piece.get(), batch);
    done.reset = tree.resets() != resets;
    done.end = tree.clone();
    done.piece->end();
    trace_.complete(tree, *done.piece, done.end_at, batch);
  }

  // -- The workers --

  void work() {
    try {
      work_on_pieces();
    } catch (const std::bad_alloc&) {
      handover_.run_out_of_memory();
    }
  }

  void work_on_pieces() {
    std::vector<Element> batch(kDecodedBatch);
    std::unique_ptr<DecodeTree> tree;
    while (const std::optional<Job> job = handover_.begin_piece()) {
      if (tree == nullptr) tree = job->known.state->clone();
      handover_.put(job->number, decode_guess(*tree, batch, *job));
    }
  }

  Done decode_guess(DecodeTree& tree, std::vector<Element>& batch, const Job& job) {
    const std::size_t begin = pieces_.begin(job.number);
    Done done;
    done.warm_up = trace_.approach(tree, *job.known.state, job.known.at, begin, job.warm_up, batch);
    tree.reset_statistics();
    done.begin = tree.clone();
    decode_piece(tree, begin, pieces_.end(job.number), done, batch);
    return done;
  }

  // -- The caller's thread --

  /// In as many pieces as it takes.  False: stop.
  bool decode_here(std::size_t from, std::size_t to) {
    while (from < to) {
      auto piece = consumer_.begin();
      const std::size_t end = trace_.decode(tree_, from, to, piece.get(), batch_, &refused_);
      if (refused_) return false;
      if (from == 0) density_ = piece->held() / std::max<std::size_t>(1, end);
      piece->end();
      if (piece->wants_more()) trace_.complete(*tree_.clone(), *piece, end, batch_);
      ++statistics_.pieces;
      if (!consumer_.take(std::move(piece)) || tree_.failed()) return false;
      from = end;
    }
    return true;
  }

  /// Decodes all pieces from `first` on.
  bool decode_alone(std::size_t first) {
    for (std::size_t i = first; i < pieces_.count; ++i)
      if (!decode_here(pieces_.begin(i), pieces_.end(i))) return false;
    return true;
  }

  bool decode_with_threads() {
    State truth = tree_.clone();
    handover_.start({truth, pieces_.first_end}, pieces_.count, warm_up_);
    Workers workers(*this);
    const unsigned started =
        workers.start(static_cast<unsigned>(std::min<std::size_t>(threads_, pieces_.count)));
    if (started == 0) return decode_alone(0);
    statistics_.threads = std::max(statistics_.threads, started);
    const auto rest = take_pieces(std::move(truth));
    workers.stop();
    return rest && decode_alone(*rest);
  }

  /// The first piece that is left for one thread, which may be after the last; empty:
  /// stop.
  std::optional<std::size_t> take_pieces(State truth) {
    unsigned wrong = 0;
    bool goes_on = true;
    std::size_t number = 0;
    // A trace that cannot be guessed at all is better left to one thread.
    for (; goes_on && number < pieces_.count && wrong < kTooManyWrong; ++number) {
      Done done;
      if (!handover_.wait_for(number, done)) break;
      statistics_.warm_up_bytes += done.warm_up;
      if (guessed_right(done, *truth)) {
        wrong = 0;
      } else {
        ++statistics_.redone;
        decode_again(pieces_.begin(number), pieces_.end(number), *truth, done);
        if (++wrong % kManyWrong == 0) handover_.lengthen_warm_up(most_warm_up_);
      }
      goes_on = take(done, truth);
      // The rest of a piece that held too much.
      while (goes_on && done.end_at < pieces_.end(number)) {
        decode_again(done.end_at, pieces_.end(number), *truth, done);
        goes_on = take(done, truth);
      }
      handover_.commit(number + 1, {truth, pieces_.end(number)});
    }
    tree_.restore(*truth);
    if (!goes_on || handover_.out_of_memory()) return std::nullopt;
    return number;
  }

  /// False: stop.
  bool take(Done& done, State& truth) {
    ++statistics_.pieces;
    tree_.add_statistics(*done.end);
    truth = std::move(done.end);
    return consumer_.take(std::move(done.piece)) && !truth->failed();
  }

  /// A source that had no bytes in the piece, and was not reset in it, may have been guessed wrong:
  /// it keeps its state.
  static bool guessed_right(const Done& done, const DecodeTree& truth) {
    if (!done.begin->same_framing(truth)) return false;
    const auto begins = done.begin->sources();
    const auto ends = done.end->sources();
    const auto truths = truth.sources();
    const auto idle = [&](std::size_t i) {
      return !done.reset && ends[i]->statistics().total_bytes == 0;
    };
    for (std::size_t i = 0; i < truths.size(); ++i)
      if (!idle(i) && !begins[i]->same_state(*truths[i])) return false;
    for (std::size_t i = 0; i < truths.size(); ++i)
      if (idle(i)) ends[i]->restore(*truths[i]);
    return true;
  }

  void decode_again(std::size_t from, std::size_t to, const DecodeTree& truth, Done& done) {
    if (redoing_ == nullptr) redoing_ = truth.clone();
    redoing_->restore(truth);
    redoing_->reset_statistics();
    decode_piece(*redoing_, from, to, done, batch_);
  }

  // Belong to the caller's thread.
  DecodeTree& tree_;
  Statistics& statistics_;
  std::unique_ptr<DecodeTree> redoing_;
  std::optional<Error> refused_;  ///< By the first feed().
  std::size_t density_ = 0;       ///< Bytes held per byte of trace.
  std::vector<Element> batch_;
  std::size_t warm_up_ = 0;  ///< The first; see Handover.
  std::size_t most_warm_up_ = 0;

  // Constant once workers run.
  const Stretches trace_;
  Consumer& consumer_;
  const unsigned threads_;
  Pieces pieces_;

  Handover handover_;
};

ParallelDecoder::ParallelDecoder(DecodeTree& tree, const Options& options)
    : tree_(tree), options_(options) {
  if (options_.threads == 0) options_.threads = std::max(1U, std::thread::hardware_concurrency());
  options_.threads = std::min(options_.threads, kMaxThreads);
  options_.piece_bytes = std::clamp(options_.piece_bytes, kLeastPiece, kMostPiece);
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
