// Bytes to packets.  See stm-itm.md 11 and 12.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "waymark/frames/block_reader.h"
#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"
#include "waymark/protocol/visitor.h"

namespace waymark::itm {

using frames::ParserStatistics;

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets
/// (except with Quirks::search_by_block).  A copy is a saved state (with the block that it reads).
/// One owner; not thread safe.
///
/// After a bad packet it searches for the next alignment synchronisation, unless the configuration
/// says that there is none.  Five zeros and 0x80 are one even if a cut packet before them took some
/// of the zeros.  An alignment synchronisation may have any number of zeros: when there are more
/// than kMaxPacketBytes, the oldest are given as unsynchronised bytes or as a bad packet.
class Parser : frames::ZerosReader<5> {
 public:
  static constexpr std::size_t kMaxPacketBytes = std::size_t{1} << 16;

  explicit Parser(const Config& config);

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);

  /// Gives the next whole packet.  Returns false when the block is used up.
  bool next(Packet& packet);

  /// Fills `out` from the front with whole packets and returns their number, which is less than its
  /// size only when the block is used up.  packet_bytes() is that of the last.
  std::size_t next(std::span<Packet> out);

  /// Reads on until the block is used up or the visitor stops it.  `Visitor` has
  ///   bool on_packet(const Packet& packet);
  /// which returns false to stop after this packet, and, if its takes() states own_packet,
  ///   Packet& place();
  /// which gives the place where the next packet is made.  Returns true if the visitor stopped it.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: gives the unfinished packet, as kIncompleteEot, or unsynchronised
  /// bytes.  Returns false if there are none.
  bool finish(Packet& packet);

  /// Returns to the initial state.
  void reset();

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const { return {raw_, raw_size_}; }

  /// The number of bytes of the current block that were read.
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Gives up the rest of the block; returns position().
  std::size_t withdraw() {
    statistics_.total_bytes -= size_ - position_;
    cut_block(position_);
    return position_;
  }

  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }
  [[nodiscard]] bool synchronised() const { return synced_; }

 private:
  template <class Visitor>
  bool parse_in_sync(Visitor& visitor);
  /// Reads the packet at `position`; false: unfinished, and carried.
  bool read_at(std::size_t position, Packet& packet);
  bool next_unsynced(Packet& packet);
  bool next_carried(Packet& packet);
  bool give_end_of_block(Packet& packet);
  void give(Packet& packet, PacketType type, std::size_t size);
  void give_unsynced(Packet& packet, std::size_t size);
  /// Reads the packet at `at`: returns its length, or 0 if more bytes are needed; then nothing has
  /// changed.
  std::size_t read(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_async(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_groups(const std::uint8_t* at, std::size_t available, unsigned max_bytes,
                          Packet& packet);
  void settle(const std::uint8_t* bytes, Packet& packet);
  void took(std::size_t position, std::size_t length) {
    raw_ = data_ + position;
    raw_size_ = length;
    position_ = position + length;
  }

  Config config_;

  std::size_t position_ = 0;  ///< In the current block.

  // The unfinished packet, or the bytes of the unsynchronised search.
  std::vector<std::uint8_t> carry_;
  TraceIndex carry_index_ = 0;
  bool carried_ = false;
  // Zeros before something, at most kAsyncZeros.
  std::size_t carry_zeros_ = 0;      ///< Before the unfinished packet.
  std::vector<std::uint8_t> given_;  ///< The bytes of the last packet if they are in no block.

  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;

  bool synced_ = false;
  bool candidate_ = false;  ///< The carried bytes may be an alignment synchronisation.
  bool first_given_ = false;

  ParserStatistics statistics_;
};

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  Packet packet;
  while (true) {
    if (synced_ && !carried_) [[likely]] {
      if (parse_in_sync(visitor)) return true;
      if (synced_) return false;
      continue;
    }
    if (!next(packet)) return false;
    if (!visitor.on_packet(packet)) return true;
  }
}

// Each iteration of the outer loop handles one run.  Data packets are most of any stream: their
// length follows from two bits, and their payload takes one load.
template <class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  static_assert(protocol::has_what_it_takes<Visitor>());
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t* const at = data + position;
      const std::uint8_t header = *at;
      // A packet that is kept is made where it stays: copying what was just written is slow.
      Packet own;
      Packet* made = &own;
      if constexpr (Visitor::takes().own_packet) made = &visitor.place();
      Packet& packet = *made;
      packet.index = index(position);
      if ((header & 3) != 0 && size - position > sizeof(std::uint32_t)) [[likely]] {
        const unsigned payload = 1U << ((header & 3U) - 1);
        std::uint32_t value = 0;
        std::memcpy(&value, at + 1, sizeof value);
        if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
        packet.begin(static_cast<PacketType>(5 + (header >> 2 & 1)), 1 + payload);
        packet.value = value & (0xFFFFFFFFU >> (32 - 8 * payload));
        packet.source = header >> 3;
        packet.size = static_cast<std::uint8_t>(payload);
      } else if ((header & 0x8F) == 0 && header != 0 && header != 0x70) {
        packet.begin(PacketType::kLocalTimestamp, 1);
        packet.value = header >> 4;
      } else {
        if (!read_at(position, packet)) return false;
        position = position_;
        if (!visitor.on_packet(packet)) return true;
        if (!synced_) return false;
        continue;
      }
      if (!visitor.on_packet(packet)) {
        took(position, packet.length);
        return true;
      }
      position += packet.length;
    } while (position < end);
  }
  position_ = position;
  return false;
}

}  // namespace waymark::itm
