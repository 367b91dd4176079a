// The exchange between the worker threads and the caller's thread of a ParallelDecoder.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "waymark/parallel/parallel_decoder.h"

namespace waymark::parallel {

using State = std::shared_ptr<const DecodeTree>;

/// The result of decoding a piece.
struct Done {
  std::unique_ptr<DecodeTree> begin{};  ///< Before the piece, as guessed.
  std::unique_ptr<DecodeTree> end{};    ///< After the piece, with only its own counts.
  std::unique_ptr<Piece> piece{};
  std::size_t end_at = 0;  ///< Before the end of the piece if it held too much.
  std::size_t warm_up = 0;
  bool reset = false;  ///< All sources were reset within it.
};

/// The state of all sources at a place of the trace.
struct Known {
  State state{};
  std::size_t at = 0;
};

/// The task that a worker begins.
struct Job {
  std::size_t number = 0;
  Known known{};
  std::size_t warm_up = 0;
};

/// The state that the workers and the caller's thread share; every function takes the lock.  Pieces
/// [committed, committed + slots) may be with the workers.
class Handover {
 public:
  explicit Handover(std::size_t slots) : slots_(slots) {}

  void start(Known known, std::size_t count, std::size_t warm_up) {
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
    count_ = count;
    warm_up_ = warm_up;
  }

  // -- The workers --

  /// Waits until there is room.  Empty: everything is over.
  std::optional<Job> begin_piece() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return over() || next_ < committed_ + slots_.size(); });
    if (over()) return std::nullopt;
    return Job{.number = next_++, .known = known_, .warm_up = warm_up_};
  }
  void put(std::size_t number, Done done) {
    const std::lock_guard lock(mutex_);
    slots_[number % slots_.size()] = std::move(done);
    done_.notify_one();
  }
  void run_out_of_memory() {
    const std::lock_guard lock(mutex_);
    out_of_memory_ = stopping_ = true;
    done_.notify_one();
    room_.notify_all();
  }

  // -- The caller's thread --

  /// False: it will not come.
  bool wait_for(std::size_t number, Done& done) {
    std::unique_lock lock(mutex_);
    Done& slot = slots_[number % slots_.size()];
    done_.wait(lock, [&] { return slot.piece != nullptr || out_of_memory_; });
    if (slot.piece == nullptr) return false;
    done = std::move(slot);
    slot = {};
    return true;
  }
  /// `number` pieces were taken.
  void commit(std::size_t number, Known known) {
    {
      const std::lock_guard lock(mutex_);
      known_ = std::move(known);
      committed_ = number;
    }
    room_.notify_all();
  }
  void lengthen_warm_up(std::size_t most) {
    const std::lock_guard lock(mutex_);
    warm_up_ = std::min(2 * warm_up_, most);
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_all();
  }
  [[nodiscard]] bool out_of_memory() {
    const std::lock_guard lock(mutex_);
    return out_of_memory_;
  }

 private:
  [[nodiscard]] bool over() const { return stopping_ || next_ >= count_; }

  std::mutex mutex_;
  std::condition_variable room_;  ///< A slot may be filled, or everything is over.
  std::condition_variable done_;  ///< A slot was filled, or never will be.
  std::vector<Done> slots_;
  std::size_t count_ = 0;      ///< Of pieces.
  std::size_t next_ = 0;       ///< The first piece that no worker has begun.
  std::size_t committed_ = 0;  ///< The number of pieces that were taken.
  Known known_;
  std::size_t warm_up_ = 0;
  bool stopping_ = false;
  bool out_of_memory_ = false;
};

}  // namespace waymark::parallel
