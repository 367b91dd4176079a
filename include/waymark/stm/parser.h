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
#include "waymark/protocol/visitor.h"
#include "waymark/stm/config.h"
#include "waymark/stm/nibble_order.h"
#include "waymark/stm/nibbles.h"
#include "waymark/stm/packet.h"
#include "waymark/stm/quirks.h"

namespace waymark::stm {

struct Header;
struct HeaderTables;

using frames::ParserStatistics;

/// The state that a parser keeps between blocks, except for what only Quirks::unsynced_by_block
/// needs; stm-itm.md 9.
struct ParserState {
  /// Unsynchronised bytes are given in packets of this many.
  static constexpr std::size_t kUnsyncedChunk = 16;
  static constexpr std::size_t kHistory = 12;  ///< Bytes that hold kAsyncFs nibbles.

  /// How the master and the channel were sent, because the order may turn out to be the other one.
  struct AsSent {
    bool wide_master = false;  ///< By an M16.
    bool has_c8 = false;       ///< Since the last C16.
    std::uint16_t c16 = 0;     ///< The field of the last C16.
    friend bool operator==(const AsSent&, const AsSent&) = default;
  };
  /// The unfinished packet, from the byte in which it begins.
  struct Carry {
    std::vector<std::uint8_t> bytes;
    TraceIndex index = 0;
    bool active = false;
    bool upper = false;  ///< It begins in the upper nibble.
    /// Quirk index_of_next_byte: its index is that of the next block, and without one it is lost.
    bool index_due = false;
    void reset() {
      bytes.clear();
      active = index_due = false;
    }
    friend bool operator==(const Carry&, const Carry&) = default;
  };
  /// The last bytes before the carried packet or, without one, before the block; oldest first.
  struct History {
    std::array<std::uint8_t, kHistory> bytes{};
    std::size_t size = 0;
    friend bool operator==(const History&, const History&) = default;
  };
  /// The search for an ASYNC: the bytes that are held back because one may begin in them.
  struct Search {
    std::array<std::uint8_t, kUnsyncedChunk + kHistory> held{};
    std::array<TraceIndex, kUnsyncedChunk + kHistory> indexes{};
    std::size_t size = 0;
    bool upper = false;  ///< It begins in the upper nibble of the oldest byte.
    bool async_due =
        false;  ///< The held bytes end with an ASYNC; `due` is all of them, in nibbles.
    std::size_t due = 0;
    std::uint64_t fs = 0;  ///< F nibbles before the current one, even if none are held.
    void reset();
    void clear_rest();  ///< What no longer has a meaning, so that states can be compared.
    friend bool operator==(const Search&, const Search&) = default;
  };

  bool synced_ = false;
  bool least_first_ = false;
  bool gathering_ = false;     ///< The nibble order is not settled.
  bool order_stated_ = false;  ///< By an extended VERSION packet.
  TimestampEncoding encoding_ = TimestampEncoding::kUnknown;
  PacketType last_type_ = PacketType::kNotSync;
  std::uint16_t master_ = 0;
  std::uint16_t channel_ = 0;
  AsSent sent_;
  std::uint64_t timestamp_ = 0;
  OrderEvidence evidence_;

  Carry carry_;
  History history_;
  Search search_;

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets
/// (except for NOTSYNC packets with Quirks::unsynced_by_block).  A copy is a saved state (with the
/// block that it reads).  One owner; not thread safe.
///
/// After a bad packet it searches for the next ASYNC.  21 F nibbles and a 0 are an ASYNC at any
/// position, because legal packets never look like that.  One that begins within a packet, because
/// earlier damage went unnoticed, is found too; it is shorter by what that packet took.
class Parser : private ParserState, frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = 4096;
  static constexpr unsigned kAsyncNibbles = 22;
  using ParserState::kUnsyncedChunk;

  explicit Parser(const Config& config, const Quirks& quirks = {});

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);

  /// Gives the next whole packet.  Returns false when the block is used up.
  bool next(Packet& packet);

  /// Fills `out` from the front with whole packets and returns their number, which is less than its
  /// size only when the block is used up.  packet_bytes() is that of the last.
  std::size_t next(std::span<Packet> out);

  /// Reads on until the block is used up or the visitor stops it.  It does what next() does,
  /// without a call for each packet.  `Visitor` has
  ///   bool on_packet(Packet& packet);
  /// which returns false to stop after this packet, and, if its takes() states own_packet,
  ///   Packet& place();
  /// which gives the place where the next packet is made.  Returns true if the visitor stopped it.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: gives the unfinished packet as kIncompleteEot, or the rest of a
  /// search as kNotSync.  Returns false if there is none.
  bool finish(Packet& packet);

  /// Loses synchronisation and forgets all that packets set.
  void reset();

  /// Bytes are missing before the next block: the parser loses synchronisation, but keeps the state
  /// that no synchronisation point restates.
  void jump();

  /// Both will read what follows in the same way.  Both must have used up their blocks.
  [[nodiscard]] bool same_state(const Parser& other) const {
    return settled_state() == other.settled_state();
  }

  /// The bytes that the last packet touches; only the upper nibble of the first byte if the packet
  /// begins there.  Valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const;

  /// The bytes of a packet from that of its index on.
  [[nodiscard]] std::size_t length_from_index(const Packet& packet) const {
    return packet.length() - (packet.upper && quirks_.index_of_next_byte ? 1 : 0);
  }

  /// The number of bytes of the current block that were read, at least in part.
  [[nodiscard]] std::size_t position() const { return (at_ + 1) / 2; }

  /// Gives up the rest of the block; returns position().
  std::size_t withdraw();

  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }
  [[nodiscard]] bool synchronised() const { return synced_; }

  [[nodiscard]] TimestampEncoding encoding() const { return encoding_; }
  /// The order in use, and whether kAuto has decided on it.
  [[nodiscard]] NibbleOrder order() const {
    return least_first_ ? NibbleOrder::kLeastFirst : NibbleOrder::kMostFirst;
  }
  [[nodiscard]] bool order_is_settled() const { return !gathering_; }

 private:
  [[nodiscard]] ParserState settled_state() const;

  /// The bytes from a packet's first one on that read() may load, even if they are not part of it.
  static constexpr std::size_t kReadAhead = 32;
  static constexpr unsigned kAsyncFs = kAsyncNibbles - 1;

  /// Indexed by the length nibble of a timestamp; stm-itm.md 3.
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
  unsigned read_carried(Packet& packet);
  void took(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  void search_after(const std::uint8_t* bytes, std::size_t at, Packet& packet);
  [[nodiscard]] unsigned fs_before(const std::uint8_t* bytes, std::size_t at) const;
  void remember(const std::uint8_t* bytes, std::size_t count);
  void carry_from(std::size_t at, TraceIndex index);

  bool next_unsynced(Packet& packet);
  void search_byte();
  void give_held(Packet& packet, PacketType type, std::size_t nibbles);
  void give_found_async(Packet& packet);
  bool next_unsynced_segment(Packet& packet);
  void give_async_of_segment(Packet& packet);
  bool next_unsynced_block(Packet& packet);
  void give_block(Packet& packet, std::size_t first, std::size_t shown);
  void give_made_up_async(Packet& packet);
  void give_due_async(Packet& packet);

  TraceIndex index_at(std::size_t at) {
    return BlockReader::index_at(at / 2) + (quirks_.index_of_next_byte ? at & 1 : 0);
  }
  [[nodiscard]] std::size_t segment_end(std::size_t position) const;

  const HeaderTables* headers_;
  Quirks quirks_;
  NibbleOrder wanted_order_;

  std::size_t at_ = 0;  ///< In the current block.

  bool remembered_ = false;  ///< history_ already holds the end of the current block.

  // The same, with Quirks::unsynced_by_block.  With unsynced_bytes_miscounted, counts have 8 bits.
  std::uint8_t block_fs_ = 0;
  TraceIndex run_of_fs_index_ = 0;
  std::optional<std::uint8_t> made_up_prefix_;  ///< The rest of the byte in which it ends.
  std::vector<std::uint8_t> async_;             ///< Without it: the bytes of the ASYNC that is due.

  // The bytes of the last packet.
  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;
  bool raw_upper_ = false;
  std::vector<std::uint8_t> given_;  ///< Those bytes, if they are in no block.
  mutable std::vector<std::uint8_t> shown_;

  ParserStatistics statistics_;
};

/// Takes the nibbles of a timestamp, 1 to 16 of them, in a known encoding.
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

/// Reads a packet whose bytes can all be read, except for its index.  0: the packet is bad or not
/// one of the common ones, and nothing has changed.
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
    // The packet may show the order of nibbles.
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

// A branch on the opcode, not a table: if it is predicted, the next packet need not wait for the
// length of this one.
[[gnu::always_inline]] inline unsigned Parser::read_common(const std::uint8_t* bytes,
                                                           std::size_t at, Packet& packet) {
  using enum PacketType;
  const std::uint64_t head = load_nibbles(bytes, at);
  switch (head & 0xF) {
    case 0x0:
      return read_data<kNull, 1, 0, false, false>(bytes, at, head, packet);
    case 0x1:
      channel_ = 0;
      sent_ = {};
      master_ = static_cast<std::uint16_t>(field_value(head >> 4, 2, least_first_));
      return read_data<kM8, 1, 2, false, false>(bytes, at, head, packet);
    case 0x3:
      channel_ =
          static_cast<std::uint16_t>((channel_ & 0xFF00) | field_value(head >> 4, 2, least_first_));
      sent_.has_c8 = true;
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
      channel_ = sent_.c16 = static_cast<std::uint16_t>(field_value(head >> 8, 4, least_first_));
      sent_.has_c8 = false;
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

/// Where the visitor's next packet is made: `other`, if the visitor has no place of its own.
template <class Visitor>
Packet& place_of(Visitor& visitor, Packet& other) {
  static_assert(protocol::has_what_it_takes<Visitor>());
  if constexpr (Visitor::takes().own_packet) {
    return visitor.place();
  } else {
    return other;
  }
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  Packet other;
  while (true) {
    if (synced_ && !carry_.active) [[likely]] {
      if (parse_in_sync(visitor)) return true;
    }
    // Rare packets, and the end of the block.
    Packet& packet = place_of(visitor, other);
    if (!next(packet)) return false;
    if (!visitor.on_packet(packet)) return true;
  }
}

// Each iteration of the outer loop handles one run.  False: the next packet is not one of the
// common ones, or too near the end of the block.
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
      // It never leaves the loop: fields that the visitor does not read are never written.
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
