// Bytes to records.  See mtb.md 1.
#pragma once

#include <array>
#include <cstddef>

#include "waymark/frames/block_reader.h"
#include "waymark/mtb/packet.h"

namespace waymark::mtb {

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.
/// The first byte begins a record, and so does every eighth one after it.  Any chunking gives the
/// same packets.  One owner; not thread safe.
class Parser : frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = kRecordBytes;

  void feed(const frames::StreamBlock& block);
  bool next(Packet& packet);
  bool finish(Packet& packet);
  void reset();

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const { return Bytes(record_).first(given_); }
  [[nodiscard]] std::size_t position() const { return position_; }
  std::size_t withdraw();
  [[nodiscard]] const frames::ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }

 private:
  std::size_t position_ = 0;                         ///< In the current block.
  std::array<std::uint8_t, kRecordBytes> record_{};  ///< The given record, or an unfinished one.
  std::size_t held_ = 0;                             ///< The bytes of an unfinished one.
  std::size_t given_ = 0;
  TraceIndex index_ = 0;  ///< That of the unfinished one.
  frames::ParserStatistics statistics_;
};

/// The record in eight bytes; `packet.index` stays.
void read_record(Bytes bytes, Packet& packet);

}  // namespace waymark::mtb
