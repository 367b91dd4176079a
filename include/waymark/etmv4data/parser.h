// Bytes of the data stream to packets.  See etmv4-data.md 2 and 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/etmv4data/config.h"
#include "waymark/etmv4data/packet.h"
#include "waymark/frames/block_reader.h"

namespace waymark::etmv4data {

using frames::ParserStatistics;

/// Pull parser, in the form of etmv4::Parser.  The length of a packet without a known layout is not
/// guessed: all bytes up to the next alignment synchronisation are kUnknown packets of at most
/// kMaxPacketBytes.  Any chunking gives the same packets.  One owner; not thread safe.
class Parser : frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = 1024;

  explicit Parser(const Config& config);

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);
  /// Gives the next whole packet.  Returns false when the block is used up.
  bool next(Packet& packet);
  /// At the end of the trace: gives what is left.  False: nothing.
  bool finish(Packet& packet);
  /// Returns to the initial state.
  void reset();

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const { return given_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  std::size_t withdraw() {
    statistics_.total_bytes -= size_ - position_;
    size_ = position_;
    return position_;
  }
  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }

 private:
  enum class State : std::uint8_t {
    kSearch,   ///< No synchronisation yet.
    kPacket,   ///< The held bytes begin a packet.
    kUnknown,  ///< After a packet without layout, or a bad one.
  };
  static constexpr std::size_t kAsyncSize = 12;

  bool take_byte(Packet& packet);
  bool read_packet(Packet& packet);
  bool read_extension(Packet& packet);
  bool read_timestamp(Packet& packet);
  bool read_data(Packet& packet, std::size_t header_size);
  void give(Packet& packet, PacketType type, std::size_t size);
  void give_passed(Packet& packet, std::size_t size);
  /// The index of the byte `back` bytes before the newest one held, 0 <= back < kAsyncSize.
  [[nodiscard]] TraceIndex index_of(std::size_t back) const {
    return indexes_[(newest_ + kAsyncSize - back) % kAsyncSize];
  }

  Config config_;
  std::size_t position_ = 0;  ///< In the current block.

  State state_ = State::kSearch;
  std::vector<std::uint8_t> held_;
  TraceIndex held_index_ = 0;
  std::array<TraceIndex, kAsyncSize> indexes_{};  ///< For the newest bytes held; a ring.
  std::size_t newest_ = 0;
  std::size_t zeros_ = 0;  ///< At the end of the held bytes.
  PacketType begun_ = PacketType::kNoErrorType;
  bool continues_ = false;
  bool first_given_ = false;
  std::uint64_t timestamp_ = 0;
  std::vector<std::uint8_t> given_;
  ParserStatistics statistics_;
};

}  // namespace waymark::etmv4data
