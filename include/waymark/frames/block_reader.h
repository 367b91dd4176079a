// The block that a packet parser reads, and where in the capture its bytes stand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/frames/stream.h"

namespace waymark::frames {

/// Counts of one source; frames.md 5.
struct ParserStatistics {
  std::uint64_t total_bytes = 0;
  std::uint64_t unsynced_bytes = 0;
  std::uint32_t bad_headers = 0;
  std::uint32_t bad_sequences = 0;
  friend bool operator==(const ParserStatistics&, const ParserStatistics&) = default;
};

/// A base of parsers.  A copy reads the same block.
class BlockReader {
 protected:
  /// The block must live until the next one begins or this one is left.
  void begin_block(const StreamBlock& block) {
    data_ = block.bytes.data();
    size_ = block.bytes.size();
    runs_ = block.runs;
    run_ = 0;
    run_end_ = runs_.size() > 1 ? runs_[1].position : ~std::size_t{0};
  }
  void leave_block() {
    data_ = nullptr;
    size_ = 0;
  }

  /// Positions must be asked for in rising order.
  TraceIndex index_at(std::size_t position) {
    while (position >= run_end_) [[unlikely]]
      next_run();
    return runs_[run_].index_at(position);
  }
  void next_run() {
    ++run_;
    run_end_ = run_ + 1 < runs_.size() ? runs_[run_ + 1].position : ~std::size_t{0};
  }

  /// Appends to an unfinished packet what comes at `position`, and returns how many bytes: at least
  /// `least`, if the block has them.  Doubling keeps the work linear however long the packet is.
  std::size_t append_to(std::vector<std::uint8_t>& packet, std::size_t position,
                        std::size_t least = 32) const {
    const std::size_t count = std::min(size_ - position, std::max(packet.size(), least));
    packet.insert(packet.end(), data_ + position, data_ + position + count);
    return count;
  }

  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Run> runs_;
  std::size_t run_ = 0;      ///< The one of the last position.
  std::size_t run_end_ = 0;  ///< Where it ends; it may be behind the block.
};

/// The same for protocols whose A-sync is kAsyncZeros zeros, or more, and 0x80: it counts zeros in
/// front of a place, of this block and those before it, up to kAsyncZeros.
class ZerosReader : protected BlockReader {
 protected:
  static constexpr std::size_t kAsyncZeros = 5;

  void begin_block(const StreamBlock& block) {
    if (size_ != 0) zeros_before_block_ = tail_zeros_;
    BlockReader::begin_block(block);
    tail_zeros_ = zeros_before(size_);
  }
  void leave_block() {
    BlockReader::leave_block();
    zeros_before_block_ = tail_zeros_ = 0;
  }
  /// What is behind `size` is no part of the block.
  void cut_block(std::size_t size) {
    size_ = size;
    tail_zeros_ = zeros_before(size);
  }

  /// Zeros in front of what follows the block.
  [[nodiscard]] std::size_t zeros_before_next() const {
    return size_ != 0 ? tail_zeros_ : zeros_before_block_;
  }

  [[nodiscard]] std::size_t zeros_before(std::size_t position) const {
    std::size_t zeros = 0;
    while (zeros < kAsyncZeros && zeros < position && data_[position - 1 - zeros] == 0) ++zeros;
    if (zeros < position) return zeros;
    return std::min(zeros + zeros_before_block_, kAsyncZeros);
  }

 private:
  std::size_t zeros_before_block_ = 0;
  std::size_t tail_zeros_ = 0;  ///< In front of what follows the block.
};

}  // namespace waymark::frames
