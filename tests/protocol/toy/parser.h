// Bytes of the toy protocol to packets.
#pragma once

#include <cstdint>
#include <vector>

#include "packet.h"
#include "waymark/frames/block_reader.h"

namespace waymark::toy {

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.
class Parser : frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = 3;

  void feed(const frames::StreamBlock& block);
  bool next(Packet& packet);
  bool finish(Packet& packet);
  void reset();

  [[nodiscard]] Bytes packet_bytes() const { return raw_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  std::size_t withdraw();
  [[nodiscard]] const frames::ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }

 private:
  [[nodiscard]] std::size_t read(Bytes bytes, Packet& packet) const;
  bool next_carried(Packet& packet);
  void give(Bytes bytes, const Packet& packet);

  std::size_t position_ = 0;  ///< In the current block.
  bool synced_ = false;
  std::vector<std::uint8_t> carry_;  ///< The unfinished packet of earlier blocks.
  TraceIndex carry_index_ = 0;
  std::vector<std::uint8_t> given_;  ///< The bytes of a packet that was carried.
  Bytes raw_;
  frames::ParserStatistics statistics_;
};

}  // namespace waymark::toy
