// A stream whose beginning can be looked at before it is given.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "waymark/live/stream.h"

namespace waymark::live {

class Head final : public Stream {
 public:
  explicit Head(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  /// Reads one more piece from the stream, and keeps it for next() unless it is kIdle.
  Result<PieceKind> read_more(Milliseconds patience);
  /// All bytes that were read so far; valid until next().
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// The stream has ended.
  [[nodiscard]] bool ended() const { return ended_; }

  Result<Piece> next(Milliseconds patience) override;
  void released() override { stream_->released(); }
  [[nodiscard]] std::string name() const override { return stream_->name(); }

 private:
  struct Kept {
    PieceKind kind = PieceKind::kBytes;
    std::size_t size = 0;
    ArrivalTime arrival = 0;
  };

  std::unique_ptr<Stream> stream_;
  std::vector<std::uint8_t> bytes_;
  std::deque<Kept> kept_;
  std::size_t given_ = 0;  ///< Bytes of the head that next() gave.
  bool ended_ = false;
};

}  // namespace waymark::live
