#include "decoder_pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace waymark::view {

DecoderPool::DecoderPool(const SessionOptions& options, StateCache& states, unsigned most)
    : options_(options),
      states_(states),
      most_(most != 0 ? most : std::max(1U, std::thread::hardware_concurrency())) {}

Result<DecoderPool::Loan> DecoderPool::lend(const Stop& stop) {
  std::unique_lock lock(mutex_);
  if (lent_ >= most_) {
    if (waiting_ >= options_.queue)
      return fail(ErrorCode::kLimit, "Too many requests are being answered; try again later.");
    ++waiting_;
    while (lent_ >= most_ && !(stop && stop()))
      freed_.wait_for(lock, std::chrono::milliseconds(20));
    --waiting_;
    if (lent_ >= most_) return fail(ErrorCode::kLimit, "The request was cancelled.");
  }
  ++lent_;
  lock.unlock();
  return take();
}

std::optional<DecoderPool::Loan> DecoderPool::lend_if_free() {
  {
    const std::scoped_lock lock(mutex_);
    if (lent_ >= most_) return std::nullopt;
    ++lent_;
  }
  auto loan = take();
  if (!loan) return std::nullopt;
  return std::move(*loan);
}

Result<DecoderPool::Loan> DecoderPool::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      auto decoder = std::move(free_.back());
      free_.pop_back();
      return Loan(*this, std::move(decoder));
    }
  }
  auto opened = PartDecoder::open(options_, &states_);
  if (opened) return Loan(*this, std::move(*opened));
  const std::scoped_lock lock(mutex_);
  --lent_;
  freed_.notify_one();
  return std::unexpected(opened.error());
}

void DecoderPool::give_back(std::unique_ptr<PartDecoder> decoder) {
  decoder->set_sink(nullptr);
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(decoder));
  --lent_;
  freed_.notify_one();
}

std::shared_ptr<const Piece> PieceCache::find(const KeyframePointer& from,
                                              const KeyframePointer& to) {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.from == from && entry.to == to; });
  if (known == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known);
  return entries_.front().piece;
}

void PieceCache::keep(const KeyframePointer& from, const KeyframePointer& to,
                      std::shared_ptr<const Piece> piece) {
  const std::size_t bytes = piece->memory();
  if (bytes > kMostBytes) return;
  const std::scoped_lock lock(mutex_);
  entries_.push_front({.from = from, .to = to, .piece = std::move(piece), .bytes = bytes});
  bytes_ += bytes;
  while (bytes_ > kMostBytes) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace waymark::view
