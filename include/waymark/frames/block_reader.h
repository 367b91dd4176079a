// The block that a packet parser reads, and the places in the capture that its bytes come from.
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
  /// The block must live until the next one begins or the reader gives this one up.
  void begin_block(const StreamBlock& block) {
    data_ = block.bytes.data();
    size_ = block.bytes.size();
    runs_ = block.runs;
    memory_ = block.memory;
    run_ = 0;
    run_end_ = runs_.size() > 1 ? runs_[1].position : ~std::size_t{0};
  }
  void leave_block() {
    data_ = nullptr;
    size_ = 0;
    memory_ = {};
  }

  /// For quirks: a byte of the block, or what the reference finds after it.
  [[nodiscard]] std::uint8_t byte_beyond(std::size_t position) const {
    if (position < size_) return data_[position];
    return position < memory_.size() ? memory_[position] : 0;
  }

  /// Positions must be passed in ascending order.
  TraceIndex index_at(std::size_t position) {
    while (position >= run_end_) [[unlikely]]
      next_run();
    return runs_[run_].index_at(position);
  }
  void next_run() {
    ++run_;
    run_end_ = run_ + 1 < runs_.size() ? runs_[run_ + 1].position : ~std::size_t{0};
  }

  /// Appends the bytes from `position` to an unfinished packet and returns their number: at least
  /// `least`, if the block has them.  Doubling keeps the work linear, however long the packet is.
  std::size_t append_to(std::vector<std::uint8_t>& packet, std::size_t position,
                        std::size_t least = 32) const {
    const std::size_t count = std::min(size_ - position, std::max(packet.size(), least));
    packet.insert(packet.end(), data_ + position, data_ + position + count);
    return count;
  }

  /// The bytes that complete an unfinished packet.
  struct Completed {
    /// The bytes of the packet.  0: the block is used up, and the packet is still unfinished.
    std::size_t length = 0;
    std::size_t before = 0;  ///< The bytes of it that came before the last ones.
    explicit operator bool() const { return length != 0; }
  };
  /// Adds bytes of the block from `position` on to an unfinished packet, `least` or more at a time,
  /// until `read()` gives a length.  Then `position` is where the last bytes that were added begin;
  /// some of them may be after the packet.
  template <class Read>
  Completed complete(std::vector<std::uint8_t>& packet, std::size_t& position, Read read,
                     std::size_t least = 32) const {
    while (position < size_) {
      const std::size_t before = packet.size();
      const std::size_t taken = append_to(packet, position, least);
      if (const std::size_t length = read()) return {length, before};
      position += taken;
    }
    return {};
  }

  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Run> runs_;
  Bytes memory_;             ///< StreamBlock::memory.
  std::size_t run_ = 0;      ///< The run of the last position.
  std::size_t run_end_ = 0;  ///< The end of that run; it may be past the end of the block.
};

/// The same for protocols whose A-sync is kZeros or more zeros and 0x80: it counts the zeros before
/// a place, in this block and those before it, up to kZeros.
template <std::size_t kZeros>
class ZerosReader : protected BlockReader {
 protected:
  static constexpr std::size_t kAsyncZeros = kZeros;

  void begin_block(const StreamBlock& block) {
    if (size_ != 0) zeros_before_block_ = tail_zeros_;
    BlockReader::begin_block(block);
    tail_zeros_ = zeros_before(size_);
  }
  void leave_block() {
    BlockReader::leave_block();
    zeros_before_block_ = tail_zeros_ = 0;
  }
  /// Bytes after the first `size` no longer belong to the block.
  void cut_block(std::size_t size) {
    size_ = size;
    tail_zeros_ = zeros_before(size);
  }

  /// The zeros directly before what follows the block.
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
  std::size_t tail_zeros_ = 0;  ///< Before what follows the block.
};

}  // namespace waymark::frames
