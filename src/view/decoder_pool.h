// The decoders that answer questions.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "part_decoder.h"
#include "piece.h"

namespace waymark::view {

/// Lends decoders, and opens them when they are needed first.  Any number of threads may use it.
class DecoderPool {
 public:
  /// `options` and `states` must outlive the pool.  `most`: how many at a time; 0: as many as the
  /// machine has processors.
  DecoderPool(const SessionOptions& options, StateCache& states, unsigned most);

  /// A decoder while someone has it.
  class Loan {
   public:
    Loan(DecoderPool& pool, std::unique_ptr<PartDecoder> decoder)
        : pool_(&pool), decoder_(std::move(decoder)) {}
    ~Loan() {
      if (decoder_) pool_->give_back(std::move(decoder_));
    }
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    PartDecoder& operator*() const { return *decoder_; }
    PartDecoder* operator->() const { return decoder_.get(); }

   private:
    DecoderPool* pool_;
    std::unique_ptr<PartDecoder> decoder_;
  };

  /// Waits until one is free.  kLimit: too many are waiting, or `stop` said so.
  Result<Loan> lend(const Stop& stop);
  /// nullopt: none is free, or none can be opened.
  std::optional<Loan> lend_if_free();
  /// How many it lends at a time.
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  /// One of `lent_`, which counts it already.
  Result<Loan> take();
  void give_back(std::unique_ptr<PartDecoder> decoder);

  const SessionOptions& options_;
  StateCache& states_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<PartDecoder>> free_;
  std::size_t lent_ = 0;
  std::size_t waiting_ = 0;
};

/// Keeps the last pieces.  Any number of threads may use it.
class PieceCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{96} << 20;

  std::shared_ptr<const Piece> find(const KeyframePointer& from, const KeyframePointer& to);
  void keep(const KeyframePointer& from, const KeyframePointer& to,
            std::shared_ptr<const Piece> piece);

 private:
  struct Entry {
    KeyframePointer from{};
    KeyframePointer to{};
    std::shared_ptr<const Piece> piece{};
    std::size_t bytes = 0;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< The last used one first.
  std::size_t bytes_ = 0;
};

}  // namespace waymark::view
