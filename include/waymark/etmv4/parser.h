// Bytes to packets.  See etmv4-ete.md 2.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/etmv4/address_history.h"
#include "waymark/etmv4/atoms.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/context_register.h"
#include "waymark/etmv4/packet.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/etmv4/timestamp_register.h"
#include "waymark/etmv4/unsynced_search.h"
#include "waymark/frames/block_reader.h"
#include "waymark/protocol/visitor.h"

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

/// The state that a parser keeps between blocks; etmv4-ete.md 5.1.
struct ParserState {
  /// The unfinished packet.
  struct Carry {
    bool active = false;  ///< Otherwise the bytes are those of the last packet.
    TraceIndex index = 0;
    std::size_t zeros = 0;  ///< Before it, up to those of an A-sync.
    std::vector<std::uint8_t> bytes{};
    void reset() {
      active = false;
      bytes.clear();
    }
    friend bool operator==(const Carry& a, const Carry& b) {
      return a.active == b.active &&
             (!a.active || (a.index == b.index && a.zeros == b.zeros && a.bytes == b.bytes));
    }
  };

  bool synced_ = false;
  Carry carry_;
  UnsyncedSearch search_;

  // Registers that packets update.
  AddressHistory addresses_;
  ContextRegister context_;
  TimestampRegister time_;
  bool trace_info_seen_ = false;
  std::uint32_t cc_threshold_ = 0;
  std::uint32_t cc_threshold_shown_ = 0;

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets.  A
/// copy is a saved state (with the block that it reads).  One owner; not thread safe.
///
/// A packet longer than kMaxPacketBytes is a kBadSequence of that length; legal ones are shorter.
///
/// After a bad packet it searches for an A-sync.  Eleven zeros and 0x80 are one even if the packet
/// before them took some of the zeros: then damage before it went unnoticed, and the A-sync is
/// shorter by those zeros.
class Parser : private ParserState, frames::ZerosReader<UnsyncedSearch::kAsyncSize - 1> {
 public:
  static constexpr std::size_t kMaxPacketBytes = 4096;

  explicit Parser(const Config& config, const Quirks& quirks = {});

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
  /// As takes() states, a visitor also has
  ///   bool on_atom_row(Bytes headers);
  /// which gets up to eight consecutive atom packets at once, often none; eight bytes can be read
  /// from their start.  False stops after them.  The indexes of its packets have no meaning, but it
  /// may have
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
    return static_cast<const ParserState&>(*this) == other &&
           zeros_before_next() == other.zeros_before_next();
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
    cut_block(position_);
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

  void build_table();
  template <class Visitor>
  unsigned give_short_row(Visitor& visitor, const frames::Indexer& index, std::size_t position,
                          std::size_t end);
  template <class Visitor>
  bool parse_in_sync(Visitor& visitor);
  template <class Visitor>
  bool parse_rows(Visitor& visitor);
  /// Reads a packet at `position` that is not an atom packet; false: unfinished, and carried.
  bool read_rare(std::size_t position, Packet& packet);
  static constexpr unsigned kAddress32Size = 5;
  static constexpr std::size_t kAsyncSize = UnsyncedSearch::kAsyncSize;
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
  bool next_synced(Packet& packet);
  bool next_carried(Packet& packet);
  void give(const UnsyncedSearch::Chunk& chunk, Packet& packet);
  void lose_sync();
  /// The zeros before the packet that is read.
  [[nodiscard]] std::size_t zeros_in_front(const std::uint8_t* at) const {
    return at == carry_.bytes.data() ? carry_.zeros
                                     : zeros_before(static_cast<std::size_t>(at - data_));
  }

  // Readers: return the length of the packet that `at` begins with, or kIncomplete; then nothing
  // has changed.
  std::size_t read(Bytes at, Packet& packet);
  std::size_t read_extension(Bytes at, Packet& packet);
  std::size_t read_async(Bytes at, Packet& packet);
  std::size_t read_async_only(Bytes at, Packet& packet);
  std::size_t read_trace_info(Bytes at, Packet& packet);
  std::size_t read_timestamp(Bytes at, Packet& packet);
  std::size_t read_exception(Bytes at, Packet& packet);
  std::size_t read_cycle_count_f1(Bytes at, Packet& packet);
  std::size_t read_short_cycle_count(Bytes at, Packet& packet) const;
  std::size_t read_count(Bytes at, std::uint32_t& count, Packet& packet);
  static void read_cancel(std::uint8_t header, Packet& packet);
  std::size_t read_conditional(Bytes at, Packet& packet);
  std::size_t read_context(Bytes at, Packet& packet);
  std::size_t read_address_context(Bytes at, Packet& packet);
  std::size_t read_address(Bytes at, std::uint8_t bits, std::uint8_t is, Packet& packet) const;
  std::size_t read_q(Bytes at, Packet& packet);
  /// The length of a packet that does not end before `end`, see fields_end() in its source.
  std::size_t not_whole(std::size_t end, Packet& packet);

  Config config_;
  Quirks quirks_;
  std::array<Header, 256> table_;

  std::size_t position_ = 0;     ///< In the current block.
  UnsyncedSearch::Chunk given_;  ///< The last packet, if its bytes are in no block.

  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;

  ParserStatistics statistics_;
  Packet rare_;  ///< What parse() passes to its visitor, except for atoms and short addresses.
};

}  // namespace waymark::etmv4
