// Nibbles to packets.  See stm-itm.md 1 to 5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "waymark/base/bits.h"
#include "waymark/frames/block_reader.h"
#include "waymark/stm/config.h"
#include "waymark/stm/nibble_order.h"
#include "waymark/stm/nibbles.h"
#include "waymark/stm/packet.h"
#include "waymark/stm/quirks.h"

namespace waymark::stm {

struct Header;
struct HeaderTables;

using frames::ParserStatistics;

/// What a parser keeps from one block to the next; stm-itm.md 9.  Without what only
/// Quirks::unsynced_by_block needs.
struct ParserState {
  /// Unsynchronised bytes come out in packets of this many.
  static constexpr std::size_t kUnsyncedChunk = 16;
  static constexpr std::size_t kHistory = 12;  ///< Bytes that hold kAsyncFs nibbles.

  bool synced_ = false;
  bool least_first_ = false;
  bool gathering_ = false;     ///< The order is not settled.
  bool order_stated_ = false;  ///< By an extended VERSION packet.
  TimestampEncoding encoding_ = TimestampEncoding::kUnknown;
  PacketType last_type_ = PacketType::kNotSync;
  std::uint16_t master_ = 0;
  std::uint16_t channel_ = 0;
  // How they were sent, for the order may turn out to be the other one.
  bool wide_master_ = false;       ///< By an M16.
  bool channel_has_c8_ = false;    ///< Since the last C16.
  std::uint16_t channel_c16_ = 0;  ///< What the last C16 said.
  std::uint64_t timestamp_ = 0;
  OrderEvidence evidence_;

  // The unfinished packet, from the byte on in which it begins.
  std::vector<std::uint8_t> carry_;
  TraceIndex carry_index_ = 0;
  bool carried_ = false;
  bool carry_upper_ = false;

  /// The last bytes before the carried packet, or else before the block; oldest first.
  std::array<std::uint8_t, kHistory> history_{};
  std::size_t history_size_ = 0;

  // The search: what is held back because an ASYNC may begin in it.
  std::array<std::uint8_t, kUnsyncedChunk + kHistory> held_{};
  std::array<TraceIndex, kUnsyncedChunk + kHistory> held_index_{};
  std::size_t held_size_ = 0;
  bool held_upper_ = false;  ///< The search begins in the upper nibble of the oldest byte.
  bool async_due_ = false;   ///< What is held ends with an ASYNC; due_ is all of it, in nibbles.
  std::size_t due_ = 0;
  std::uint64_t fs_ = 0;  ///< F nibbles before the present one, even where none are held.

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, next() until it says no, feed() the next one.  It keeps at most one
/// unfinished packet between blocks, so that any chunking gives the same packets (except for
/// NOTSYNC packets with Quirks::unsynced_by_block).  A copy is a saved state (with the block that
/// it reads).  One owner; not thread safe.
///
/// After a bad packet it searches for the next ASYNC.  21 F nibbles and a 0 are one wherever they
/// stand, for no legal packets look like that: one that begins within a packet, because damage
/// before it was not seen, is found too, and is shorter by what that packet took of it.
class Parser : private ParserState, frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = 4096;
  static constexpr unsigned kAsyncNibbles = 22;
  using ParserState::kUnsyncedChunk;

  explicit Parser(const Config& config, const Quirks& quirks = {});

  /// The block before must be used up, and this one must live until it is.
  void feed(const frames::StreamBlock& block);

  /// The next whole packet.  False: the block is used up.
  bool next(Packet& packet);

  /// Fills `out` from the front with whole packets and returns how many; less than its size only
  /// when the block is used up.  packet_bytes() is that of the last.
  std::size_t next(std::span<Packet> out);

  /// Reads on until the block is used up or the visitor says stop: what next() does, without a
  /// call for each packet.  `Visitor` has
  ///   bool on_packet(Packet& packet);
  /// which returns false to stop after this packet, and may have
  ///   Packet& place();
  /// for a packet to be made where it is kept.  True: the visitor stopped it.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: the unfinished packet as kIncompleteEot, or what is left of a search
  /// as kNotSync.  False: none.
  bool finish(Packet& packet);

  /// Unsynchronised again, and all that packets set is forgotten.
  void reset();

  /// Bytes are missing before the next block: unsynchronised, while what no synchronisation point
  /// restates stays.
  void jump();

  /// What comes next will be read alike.  Both have used up their blocks.
  [[nodiscard]] bool same_state(const Parser& other) const {
    return settled_state() == other.settled_state();
  }

  /// The bytes that the last packet touches, of the first one only the upper nibble where it begins
  /// there; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const;

  /// Bytes of the present block that are read, if only in part.
  [[nodiscard]] std::size_t position() const { return (at_ + 1) / 2; }

  /// Takes back what is left of the block; returns position().
  std::size_t withdraw();

  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }
  [[nodiscard]] bool synchronised() const { return synced_; }

  [[nodiscard]] TimestampEncoding encoding() const { return encoding_; }
  /// The order that is used, and whether kAuto has decided on it.
  [[nodiscard]] NibbleOrder order() const {
    return least_first_ ? NibbleOrder::kLeastFirst : NibbleOrder::kMostFirst;
  }
  [[nodiscard]] bool order_is_settled() const { return !gathering_; }

 private:
  [[nodiscard]] ParserState settled_state() const;

  /// Bytes that read() may load from a packet's first one on, whether they count or not.
  static constexpr std::size_t kReadAhead = 32;
  static constexpr unsigned kAsyncFs = kAsyncNibbles - 1;

  /// By the length nibble of a timestamp; stm-itm.md 3.
  static constexpr std::array<std::uint8_t, 16> kTimestampNibbles = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                     8, 9, 10, 11, 12, 14, 16, 0};
  static constexpr unsigned kBadTimestampLength = 15;

  template <class Visitor>
  bool parse_in_sync(Visitor& visitor);
  unsigned read_common(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  template <PacketType kType, unsigned kOpcode, unsigned kPayload, bool kMarker, bool kTimestamp>
  unsigned read_data(const std::uint8_t* bytes, std::size_t at, std::uint64_t head, Packet& packet);
  void update_timestamp(std::uint64_t raw, unsigned count);

  // Positions count nibbles from the beginning of a block; odd ones are upper nibbles.
  unsigned read(const std::uint8_t* bytes, std::size_t at, std::size_t end, Packet& packet);
  unsigned read_whole(const Header& header, const std::uint8_t* bytes, std::size_t at,
                      std::size_t end, Packet& packet);
  unsigned read_extension(const std::uint8_t* bytes, std::size_t at, std::size_t end,
                          Packet& packet);
  unsigned read_async(const std::uint8_t* bytes, std::size_t at, std::size_t end, Packet& packet);
  unsigned read_version(const std::uint8_t* bytes, std::size_t at, std::size_t end, Packet& packet);
  unsigned read_user(const Header& header, const std::uint8_t* bytes, std::size_t at,
                     std::size_t end, Packet& packet);
  unsigned read_timestamp(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  unsigned bad(Packet& packet, PacketType type, Defect defect, unsigned nibbles);
  void begin(Packet& packet, PacketType type, unsigned nibbles) const;
  void begin_order();
  void settle_order(NibbleOrder order);
  void apply_verdict(Packet& packet);

  void give_incomplete(std::size_t at, unsigned nibbles, Packet& packet) const;
  bool next_in_block(Packet& packet);
  bool next_carried(Packet& packet);
  void took(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  void search_after(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  [[nodiscard]] unsigned fs_before(const std::uint8_t* bytes, std::size_t at) const;
  void remember(const std::uint8_t* bytes, std::size_t count);
  void carry_from(std::size_t at, TraceIndex index);

  bool next_unsynced(Packet& packet);
  void search_byte();
  void give_held(Packet& packet, PacketType type, std::size_t nibbles);
  void give_found_async(Packet& packet);
  bool next_unsynced_block(Packet& packet);
  void give_block(Packet& packet, std::size_t first, std::size_t size, std::size_t shown);
  void give_made_up_async(Packet& packet);

  TraceIndex index_at(std::size_t at) {
    return BlockReader::index_at(at / 2) + (quirks_.index_of_next_byte ? at & 1 : 0);
  }
  [[nodiscard]] std::size_t segment_end(std::size_t position) const;

  const HeaderTables* headers_;
  Quirks quirks_;
  NibbleOrder wanted_order_;

  std::size_t at_ = 0;  ///< In the present block.

  bool remembered_ = false;  ///< history_ holds the end of the present block already.

  // The same with Quirks::unsynced_by_block.  Its counts have 8 bits.
  std::uint8_t block_fs_ = 0;
  TraceIndex run_of_fs_index_ = 0;
  std::optional<std::uint8_t> made_up_prefix_;  ///< The rest of the byte in which it ends.
  std::array<std::uint8_t, 24> slot_{};         ///< A segment as the reference keeps it in memory.

  // The bytes of the last packet.
  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;
  bool raw_upper_ = false;
  std::vector<std::uint8_t> given_;  ///< They, where they are in no block.
  mutable std::vector<std::uint8_t> shown_;

  ParserStatistics statistics_;
};

/// The nibbles of a timestamp, 1 to 16 of them, in a known encoding.
inline void Parser::update_timestamp(std::uint64_t raw, unsigned count) {
  const std::uint64_t value = field_value(raw, count, least_first_);
  const std::uint64_t mask = low_mask(4 * count);
  if (encoding_ == TimestampEncoding::kNatural) [[likely]] {
    timestamp_ = (timestamp_ & ~mask) | value;
  } else if (encoding_ == TimestampEncoding::kGray) {
    timestamp_ = from_gray((to_gray(timestamp_) & ~mask) | value);
  } else {
    timestamp_ += value;
  }
}

/// A packet of which all bytes can be read, but for its index; 0: not one of the common ones, or
/// bad, and nothing has changed.
template <PacketType kType, unsigned kOpcode, unsigned kPayload, bool kMarker, bool kTimestamp>
unsigned Parser::read_data(const std::uint8_t* bytes, std::size_t at, std::uint64_t head,
                           Packet& packet) {
  constexpr unsigned kFixed = kOpcode + kPayload;
  unsigned nibbles = kFixed;
  packet.type = kType;
  packet.error_type = PacketType::kNoErrorType;
  packet.defect = Defect::kNone;
  packet.payload_bits = 4 * kPayload;
  packet.timestamp_bits = 0;
  packet.has_timestamp = kTimestamp;
  packet.marker = kMarker;
  packet.payload = 0;
  if constexpr (kPayload != 0) {
    const std::uint64_t raw =
        kFixed <= 16 ? head >> (4 * kOpcode) : load_nibbles(bytes, at + kOpcode);
    packet.payload = field_value(raw, kPayload, least_first_);
  }
  if constexpr (kTimestamp) {
    const unsigned length = kFixed < 16 ? static_cast<unsigned>(head >> (4 * (kFixed % 16)) & 0xF)
                                        : nibble_at(bytes, at + kFixed);
    if (length == kBadTimestampLength || encoding_ == TimestampEncoding::kUnknown) [[unlikely]]
      return 0;
    // It may show the order of nibbles.
    if (gathering_ && length != 0) [[unlikely]]
      return 0;
    const unsigned count = kTimestampNibbles[length];
    if (count != 0) update_timestamp(load_nibbles(bytes, at + kFixed + 1), count);
    packet.timestamp_bits = static_cast<std::uint8_t>(4 * count);
    nibbles += 1 + count;
  }
  packet.timestamp = timestamp_;
  packet.master = master_;
  packet.channel = channel_;
  packet.nibbles = static_cast<std::uint16_t>(nibbles);
  return nibbles;
}

// A branch on the opcode, not a table: where it is predicted, the next packet need not wait for the
// length of this one.
inline unsigned Parser::read_common(const std::uint8_t* bytes, std::size_t at, Packet& packet) {
  using enum PacketType;
  const std::uint64_t head = load_nibbles(bytes, at);
  switch (head & 0xF) {
    case 0x0:
      return read_data<kNull, 1, 0, false, false>(bytes, at, head, packet);
    case 0x1:
      channel_ = channel_c16_ = 0;
      wide_master_ = channel_has_c8_ = false;
      master_ = static_cast<std::uint16_t>(field_value(head >> 4, 2, least_first_));
      return read_data<kM8, 1, 2, false, false>(bytes, at, head, packet);
    case 0x3:
      channel_ =
          static_cast<std::uint16_t>((channel_ & 0xFF00) | field_value(head >> 4, 2, least_first_));
      channel_has_c8_ = true;
      return read_data<kC8, 1, 2, false, false>(bytes, at, head, packet);
    case 0x4:
      return read_data<kD8, 1, 2, false, false>(bytes, at, head, packet);
    case 0x5:
      return read_data<kD16, 1, 4, false, false>(bytes, at, head, packet);
    case 0x6:
      return read_data<kD32, 1, 8, false, false>(bytes, at, head, packet);
    case 0x7:
      return read_data<kD64, 1, 16, false, false>(bytes, at, head, packet);
    case 0x8:
      return read_data<kD8, 1, 2, true, true>(bytes, at, head, packet);
    case 0x9:
      return read_data<kD16, 1, 4, true, true>(bytes, at, head, packet);
    case 0xA:
      return read_data<kD32, 1, 8, true, true>(bytes, at, head, packet);
    case 0xB:
      return read_data<kD64, 1, 16, true, true>(bytes, at, head, packet);
    case 0xC:
      return read_data<kD4, 1, 1, false, false>(bytes, at, head, packet);
    case 0xD:
      return read_data<kD4, 1, 1, true, true>(bytes, at, head, packet);
    case 0xE:
      return read_data<kFlag, 1, 0, false, true>(bytes, at, head, packet);
    case 0xF:
      break;
    default:
      return 0;
  }
  switch (head >> 4 & 0xF) {
    case 0x3:
      channel_ = channel_c16_ = static_cast<std::uint16_t>(field_value(head >> 8, 4, least_first_));
      channel_has_c8_ = false;
      return read_data<kC16, 2, 4, false, false>(bytes, at, head, packet);
    case 0x4:
      return read_data<kD8, 2, 2, false, true>(bytes, at, head, packet);
    case 0x5:
      return read_data<kD16, 2, 4, false, true>(bytes, at, head, packet);
    case 0x6:
      return read_data<kD32, 2, 8, false, true>(bytes, at, head, packet);
    case 0x7:
      return read_data<kD64, 2, 16, false, true>(bytes, at, head, packet);
    case 0x8:
      return read_data<kD8, 2, 2, true, false>(bytes, at, head, packet);
    case 0x9:
      return read_data<kD16, 2, 4, true, false>(bytes, at, head, packet);
    case 0xA:
      return read_data<kD32, 2, 8, true, false>(bytes, at, head, packet);
    case 0xB:
      return read_data<kD64, 2, 16, true, false>(bytes, at, head, packet);
    case 0xC:
      return read_data<kD4, 2, 1, false, true>(bytes, at, head, packet);
    case 0xD:
      return read_data<kD4, 2, 1, true, false>(bytes, at, head, packet);
    case 0xE:
      return read_data<kFlag, 2, 0, false, false>(bytes, at, head, packet);
    default:
      return 0;
  }
}

/// Where the next packet of a visitor is made: `other`, if it has no place of its own.
template <class Visitor>
Packet& place_of(Visitor& visitor, Packet& other) {
  if constexpr (requires { visitor.place(); }) {
    return visitor.place();
  } else {
    return other;
  }
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  Packet other;
  while (true) {
    if (synced_ && !carried_) [[likely]] {
      if (parse_in_sync(visitor)) return true;
    }
    // What is rare, and the end of the block.
    Packet& packet = place_of(visitor, other);
    if (!next(packet)) return false;
    if (!visitor.on_packet(packet)) return true;
  }
}

// One round of the outer loop is one run.  False: the next packet is none of the common ones, or
// too near the end of the block.
template <class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  if (size_ < kReadAhead) return false;
  const std::uint8_t* const data = data_;
  const std::size_t last_byte = size_ - kReadAhead;
  const std::size_t upper_counts = quirks_.index_of_next_byte ? 1 : 0;
  std::size_t at = at_;
  PacketType type = last_type_;
  while (at / 2 <= last_byte) {
    while (at / 2 >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = 2 * std::min(last_byte + 1, run_end_);
    do {
      // It never leaves the loop: what the visitor does not look at is never written.
      Packet other;
      Packet& packet = place_of(visitor, other);
      const unsigned nibbles = read_common(data, at, packet);
      if (nibbles == 0) [[unlikely]] {
        at_ = at;
        last_type_ = type;
        return false;
      }
      packet.index = index(at / 2) + (at & upper_counts);
      packet.upper = (at & 1) != 0;
      type = packet.type;
      if (!visitor.on_packet(packet)) [[unlikely]] {
        at_ = at + nibbles;
        took(data, at, packet);
        return true;
      }
      at += nibbles;
    } while (at < end);
  }
  at_ = at;
  last_type_ = type;
  return false;
}

}  // namespace waymark::stm
