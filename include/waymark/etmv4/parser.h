// Bytes to packets.  See etmv4-ete.md 2.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "waymark/etmv4/atoms.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"
#include "waymark/frames/block_reader.h"

namespace waymark::etmv4 {

using frames::ParserStatistics;

/// How the packet of a header byte is read: one value per layout.
enum class Layout : std::uint8_t {
  kReserved,
  kReservedConfig,
  kAtoms,
  kExtension,
  kTraceInfo,
  kTimestamp,
  kException,
  kSingle,  ///< One byte, no fields.
  kInstrumentation,
  kCycleCountF1,
  kCycleCountF2,
  kCycleCountF3,
  kValue,  ///< One byte with a value in its low bits.
  kCommit,
  kCancelF1,
  kMispredict,
  kCancelF2,
  kCancelF3,
  kCondResultF1,
  kCondResultF3,
  kCondInstrF1,
  kCondInstrF3,
  kContext,
  kAddress,
  kAddressContext,
  kQ,
};

/// What a parser keeps between blocks; etmv4-ete.md 5.1.
struct ParserState {
  /// The unsynchronised search; etmv4-ete.md 2.2.
  enum class Search : std::uint8_t { kPlain, kExtension, kAsync };
  enum class Due : std::uint8_t { kNothing, kAll, kAllButLast, kOldestZero };

  // The unfinished packet, or the bytes of the unsynchronised search.
  std::vector<std::uint8_t> carry_{};
  TraceIndex carry_index_ = 0;
  bool carried_ = false;

  bool synced_ = false;
  Search search_ = Search::kPlain;
  Due due_ = Due::kNothing;
  bool chunk_index_fixed_ = false;
  TraceIndex next_chunk_index_ = 0;
  bool first_chunk_given_ = false;
  bool jumped_ = false;  ///< The search began with a jump: its chunks are not chunks of the stream.
  bool first_chunk_given_before_ = false;  ///< The value before the jump.

  // Registers that packets update.
  std::array<Address, 4> history_{};  ///< A ring; only the newest three are used.
  std::size_t newest_ = 0;
  Address base_{.value = 0, .valid_bits = 0, .update_bits = 0, .size_bits = 32, .is = 0};
  Context context_{};
  bool context_seen_ = false;
  std::uint64_t timestamp_ = 0;
  bool timestamp_valid_ = false;
  bool trace_info_seen_ = false;
  bool initial_pending_ = true;
  std::uint32_t cc_threshold_ = 0;
  std::uint32_t cc_threshold_shown_ = 0;

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets.  A
/// copy is a saved state (with the block that it reads).  One owner; not thread safe.
///
/// A packet longer than kMaxPacketBytes is a kBadSequence of that length; legal ones are shorter.
class Parser : private ParserState, frames::BlockReader {
 public:
  static constexpr std::size_t kMaxPacketBytes = 4096;

  explicit Parser(const Config& config);

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);

  /// Gives the next whole packet.  Returns false when the block is used up.
  bool next(Packet& packet);

  /// Fills `out` from the front with whole packets and returns their number, which is less than its
  /// size only when the block is used up.  Only the fields that the type of a packet carries are
  /// written.  packet_bytes() are those of the last.
  std::size_t next(std::span<Packet> out);

  /// Reads on until the block is used up or the visitor stops it.  It does what next() does,
  /// without making a packet in memory for each atom header.  `Visitor` has
  ///   bool on_atoms(TraceIndex index, const AtomPacket& atoms);
  ///   bool on_packet(Packet& packet);
  /// which return false to stop after this packet.  Returns true if the visitor stopped it.
  ///
  /// A visitor that only counts may also have
  ///   void on_atom_row(Bytes headers);
  /// which gets up to eight consecutive atom packets at once, often none; eight bytes can be read
  /// from their start.  The indexes of its packets have no meaning.  It may also return false, and
  /// the visitor may have
  ///   void on_place(const std::uint8_t* at);
  /// which gets the place of the next packet, for index_of(); nullptr: the index of the packet is
  /// valid.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: gives the unfinished packet, as kIncompleteEot.  False: none.
  bool finish(Packet& packet);

  /// Loses synchronisation, as in the reference's RESET operation (etmv4-ete.md 5.1).
  void reset();

  /// Bytes are missing before the next block: the parser loses synchronisation, but keeps the state
  /// that no synchronisation point restates.
  void jump();

  /// Both will read what follows in the same way.  Both must have used up their blocks.
  [[nodiscard]] bool same_state(const Parser& other) const {
    return settled_state() == other.settled_state();
  }

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const { return {raw_, raw_size_}; }

  /// The index of a byte of the current block.
  [[nodiscard]] TraceIndex index_of(const std::uint8_t* at) {
    const auto position = static_cast<std::size_t>(at - data_);
    std::size_t run = run_;
    while (runs_[run].position > position) --run;
    return run == run_ ? index_at(position) : runs_[run].index_at(position);
  }

  /// The number of bytes of the current block that were read.
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Gives up the rest of the block; returns position().
  std::size_t withdraw() {
    statistics_.total_bytes -= size_ - position_;
    size_ = position_;
    return position_;
  }

  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  void reset_statistics() { statistics_ = {}; }
  [[nodiscard]] bool synchronised() const { return synced_; }

 private:
  /// A row of the header table for the current configuration.
  struct Header {
    PacketType type = PacketType::kReserved;
    Layout layout = Layout::kReserved;
    std::uint8_t is = 0;    ///< For address forms: instruction set, and the width of the address
    std::uint8_t bits = 0;  ///< (of a short form: without its second byte; 0: exact match).
  };

  [[nodiscard]] ParserState settled_state() const;
  void end_jump() {
    first_chunk_given_ = first_chunk_given_before_;
    jumped_ = first_chunk_given_before_ = false;
  }
  void build_table();
  template <class Visitor>
  bool parse_in_sync(Visitor& visitor);
  template <class Visitor>
  bool parse_rows(Visitor& visitor);
  /// Reads a packet at `position` that is not an atom packet; false: unfinished, and carried.
  bool read_rare(std::size_t position, Packet& packet);
  static constexpr unsigned kAddress32Size = 5;
  static constexpr std::size_t kAsyncSize = 12;
  static constexpr std::size_t kIncomplete = 0;  ///< The length of an incomplete packet.
  template <unsigned kIs>
  unsigned read_short_address(const std::uint8_t* at, Packet& packet);
  unsigned read_address32(const std::uint8_t* at, Packet& packet);
  unsigned read_match(const std::uint8_t* at, Packet& packet);
  void took(std::size_t position, std::size_t length) {
    raw_ = data_ + position;
    raw_size_ = length;
    position_ = position + length;
  }
  bool next_unsynced(Packet& packet);
  bool next_carried(Packet& packet);
  void give_chunk(Packet& packet, PacketType type, std::size_t size);
  /// Reads the packet at `at`: returns its length, or 0 if more bytes are needed; then nothing has
  /// changed.
  std::size_t read(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_extension(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_trace_info(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_exception(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_cycle_count_f1(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_context(const std::uint8_t* at, std::size_t available, std::size_t offset,
                           Packet& packet);
  std::size_t read_address(const std::uint8_t* at, std::size_t available, std::uint8_t bits,
                           std::uint8_t is, Packet& packet);
  std::size_t read_q(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t too_long(Packet& packet);
  /// The i-th newest address, 0 <= i <= 2.
  [[nodiscard]] const Address& history(unsigned i) const {
    return history_[(newest_ - i) % history_.size()];
  }
  void push(const Address& address) {
    newest_ = (newest_ + 1) % history_.size();
    history_[newest_] = address;
    base_ = address;
  }

  Config config_;
  std::array<Header, 256> table_;

  std::size_t position_ = 0;  ///< In the current block.

  std::vector<std::uint8_t> given_;  ///< The bytes of the last packet if they are in no block.

  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;

  ParserStatistics statistics_;
  Packet rare_;  ///< What parse() passes to its visitor, except for atoms and short addresses.
};

/// Writes an atom packet over the fields of `to` that an atom packet has.
inline void copy_atoms(const AtomPacket& from, Packet& to) {
  static_assert(
      offsetof(Packet, error_type) - offsetof(Packet, type) == offsetof(AtomPacket, error_type) &&
      offsetof(Packet, length) - offsetof(Packet, type) == offsetof(AtomPacket, length) &&
      offsetof(Packet, atom_count) - offsetof(Packet, type) == offsetof(AtomPacket, atom_count) &&
      offsetof(Packet, monitor_only) - offsetof(Packet, type) ==
          offsetof(AtomPacket, monitor_only) &&
      offsetof(Packet, atoms) - offsetof(Packet, type) == offsetof(AtomPacket, atoms));
  std::memcpy(reinterpret_cast<std::uint8_t*>(&to) + offsetof(Packet, type), &from, sizeof from);
}

// Reads a short target address whose two bytes can be read; does not branch on their number.
template <unsigned kIs>
[[gnu::always_inline]] inline unsigned Parser::read_short_address(const std::uint8_t* at,
                                                                  Packet& packet) {
  constexpr unsigned kFirst = 9 - kIs;
  const unsigned second = at[1] >> 7;
  const unsigned width = kFirst + 8 * second;
  const std::uint64_t mask = second != 0 ? (1U << (kFirst + 8)) - 1 : (1U << kFirst) - 1;
  const std::uint64_t value =
      std::uint64_t{at[1] & 0x7FU} << (2 - kIs) | std::uint64_t{at[2] & (0U - second)} << kFirst;
  Address address = base_;
  address.value = (base_.value & ~mask) | value;
  address.update_bits = static_cast<std::uint8_t>(width);
  address.valid_bits = std::max(base_.valid_bits, address.update_bits);
  address.is = kIs;
  packet.begin(static_cast<PacketType>(at[0]), 2 + second);
  packet.match_index = 0;
  packet.address = address;
  push(address);
  return 2 + second;
}

// Reads a 32-bit A64 or A32 target address whose bytes can all be read.
inline unsigned Parser::read_address32(const std::uint8_t* at, Packet& packet) {
  const bool keeps_upper_half = context_seen_ && context_.sf;
  const std::uint64_t upper = keeps_upper_half ? base_.value & ~std::uint64_t{0xFFFFFFFF} : 0;
  Address address;
  address.value = upper | (at[1] & 0x7FU) << 2 | (at[2] & 0x7FU) << 9 | std::uint32_t{at[3]} << 16 |
                  std::uint32_t{at[4]} << 24;
  address.update_bits = 32;
  address.valid_bits = std::max<std::uint8_t>(base_.valid_bits, 32);
  address.size_bits = keeps_upper_half ? 64 : 32;
  address.is = 0;
  packet.begin(PacketType::kAddress32Is0, kAddress32Size);
  packet.match_index = 0;
  packet.address = address;
  push(address);
  return kAddress32Size;
}

inline unsigned Parser::read_match(const std::uint8_t* at, Packet& packet) {
  packet.begin(PacketType::kAddressMatch, 1);
  packet.match_index = *at & 3;
  packet.address = history(packet.match_index);
  push(packet.address);
  return 1;
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  while (true) {
    if (synced_ && !carried_) [[likely]] {
      if constexpr (requires { visitor.on_atom_row(Bytes{}); }) {
        return parse_rows(visitor);
      } else {
        return parse_in_sync(visitor);
      }
    }
    if (!next(rare_)) return false;
    if (!visitor.on_packet(rare_)) return true;
  }
}

// Each iteration of the outer loop handles one run.  The header alone decides: a table look-up
// before the branch would add its latency to every misprediction.
template <class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  Packet packet;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t* const at = data + position;
      if (*at >= kFirstAtomHeader) {
        if (!visitor.on_atoms(index(position), atom_packet(*at))) {
          took(position, 1);
          return true;
        }
        ++position;
        continue;
      }
      // The most common addresses.  They write the same fields; fields that the visitor does not
      // read need not be written.
      if (*at >= 0x90 && *at <= 0x9A && size - position >= kAddress32Size) {
        unsigned length = 0;
        if (*at == 0x95) {
          length = read_short_address<0>(at, packet);
        } else if (*at <= 0x92) {
          length = read_match(at, packet);
        } else if (*at == 0x9A) {
          length = read_address32(at, packet);
        } else if (*at == 0x96) {
          length = read_short_address<1>(at, packet);
        }
        if (length != 0) [[likely]] {
          packet.index = index(position);
          if (!visitor.on_packet(packet)) {
            took(position, length);
            return true;
          }
          position += length;
          continue;
        }
      }
      rare_.index = index(position);
      if (!read_rare(position, rare_)) return false;
      position = position_;
      if (!visitor.on_packet(rare_)) return true;
    } while (position < end);
  }
  position_ = position;
  return false;
}

// Each iteration handles one of the common packets and the atoms after it.  Most time is spent on
// the way from one header to the next, so the words that may hold the atoms are read before the
// length of a short address is known.  Runs do not matter, because no index is needed.
template <class Visitor>
bool Parser::parse_rows(Visitor& visitor) {
  constexpr std::size_t kReach = kAddress32Size + kAtomRow;
  constexpr bool kPlaces = requires { visitor.on_place(nullptr); };
  constexpr bool kStops = std::same_as<decltype(visitor.on_atom_row(Bytes{})), bool>;
  const auto word = [](const std::uint8_t* at) { return load_le<std::uint64_t>(at); };
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  Packet packet;
  while (position < size) {
    if (size - position >= kReach) [[likely]] {
      const std::uint8_t* const at = data + position;
      unsigned length = 0;
      std::uint64_t row = 0;
      bool common = true;
      if (*at == 0x95) {
        row = at[1] < 0x80 ? word(at + 2) : word(at + 3);
        length = read_short_address<0>(at, packet);
      } else if (*at == 0x96) {
        row = at[1] < 0x80 ? word(at + 2) : word(at + 3);
        length = read_short_address<1>(at, packet);
      } else if (*at == 0x9A) {
        row = word(at + kAddress32Size);
        length = read_address32(at, packet);
      } else if (*at >= 0x90 && *at <= 0x92) {
        row = word(at + 1);
        length = read_match(at, packet);
      } else if (*at >= kFirstAtomHeader) {
        row = word(at);
      } else {
        common = false;
      }
      if (common) [[likely]] {
        if constexpr (kPlaces) visitor.on_place(at);
        if (length != 0 && !visitor.on_packet(packet)) {
          took(position, length);
          return true;
        }
        const unsigned atoms = leading_atoms(row);
        if constexpr (kStops) {
          if (!visitor.on_atom_row({at + length, atoms})) {
            took(position, length + atoms);
            return true;
          }
        } else {
          visitor.on_atom_row({at + length, atoms});
        }
        position += length + atoms;
        continue;
      }
    }
    position_ = position;
    if (!next(rare_)) return false;
    position = position_;
    if constexpr (kPlaces) visitor.on_place(nullptr);
    if (!visitor.on_packet(rare_)) return true;
  }
  position_ = position;
  return false;
}

}  // namespace waymark::etmv4
