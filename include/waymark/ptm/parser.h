// Bytes to packets.  See ptm.md 3 to 7.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/frames/block_reader.h"
#include "waymark/ptm/atoms.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/indexed_bytes.h"
#include "waymark/ptm/packet.h"
#include "waymark/ptm/quirks.h"
#include "waymark/ptm/register_conflicts.h"

namespace waymark::ptm {

using frames::ParserStatistics;

/// The state that a parser keeps between blocks; ptm.md 2.
struct ParserState {
  /// The largest size of a packet, and of a chunk of unsynchronised bytes.
  static constexpr std::size_t kMaxPacketBytes = 32;

  using Held = IndexedBytes<kMaxPacketBytes>;

  explicit ParserState(const Config& config) : conflicts_(config) {}

  /// Chunks of unsynchronised bytes.
  struct Chunks {
    bool given = false;   ///< At least one.
    bool jumped = false;  ///< The search began with a jump: its chunks are not those of the stream.
    bool given_before = false;  ///< The value of `given` before the jump.
    friend bool operator==(const Chunks&, const Chunks&) = default;
  };

  Held carry_;                   ///< The unfinished packet.
  std::size_t carry_zeros_ = 0;  ///< Before that packet.

  // The search for the first A-sync: other bytes, then zeros that may belong to an A-sync.
  bool synced_ = false;
  Held unsynced_;
  std::size_t zeros_ = 0;  ///< At the end of unsynced_.
  Chunks chunks_;
  RegisterConflicts conflicts_;

  // Registers that packets update; ptm.md 2.
  Address address_;
  isa::Isa isa_ = isa::Isa::kUnknown;
  bool alt_isa_ = false;  ///< The variable of ptm.md 5.3.
  Context context_;
  std::uint64_t timestamp_ = 0;

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets
/// (except with Quirks::chunks_end_with_blocks).  After a bad packet it searches for the next
/// A-sync.  Five zeros and 0x80 are an A-sync even if the packet before them took some of the
/// zeros: then damage before it went unnoticed, and the A-sync is shorter by those zeros.  A copy
/// is a saved state (with the block that it reads).  One owner; not thread safe.
class Parser : private ParserState, frames::ZerosReader<5> {
 public:
  using ParserState::kMaxPacketBytes;

  explicit Parser(const Config& config, const Quirks& quirks = {});

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);

  /// Gives the next whole packet.  Returns false when the block is used up.
  bool next(Packet& packet);

  /// Fills `out` from the front with whole packets and returns their number, which is less than its
  /// size only when the block is used up.  Only the fields that the type of a packet carries are
  /// written.  packet_bytes() are those of the last packet.
  std::size_t next(std::span<Packet> out);

  /// Reads on until the block is used up or the visitor stops it.  `Visitor` has
  ///   bool on_atoms(TraceIndex index, const AtomPacket& atoms);
  ///   bool on_packet(const Packet& packet);
  /// which return false to stop after this packet.  Returns true if the visitor stopped it.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: the unfinished packet, as kIncompleteEot.  False: none.
  bool finish(Packet& packet);

  /// Loses synchronisation and forgets addresses, context and time.
  void reset();

  /// Bytes are missing before the next block: the parser loses synchronisation, but keeps the state
  /// that no synchronisation point restates.
  void jump();

  /// Both will read what follows in the same way.  Both must have used up their blocks.
  [[nodiscard]] bool same_state(const Parser& other) const {
    return settled_state() == other.settled_state() &&
           zeros_before_next() == other.zeros_before_next();
  }

  /// Packets go to a monitor; for Quirks::chunks_end_with_blocks.  The state does not depend on it.
  void set_monitored(bool monitored) { monitored_ = monitored; }

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const {
    return {raw_ != nullptr ? raw_ : held_.data(), raw_size_};
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
  [[nodiscard]] ParserState settled_state() const;
  void end_jump() { chunks_ = {.given = chunks_.given_before}; }

  static constexpr std::size_t kMaxZeros = 16;   ///< After these, the oldest are unsynchronised.
  static constexpr std::size_t kChunkSize = 16;  ///< The size of chunks of unsynchronised bytes.
  static constexpr std::size_t kMaxBranch = 12;
  static constexpr std::uint8_t kAsyncEnd = 0x80;

  template <bool kCycles, class Visitor>
  bool parse_in_sync(Visitor& visitor);
  bool next_in_sync(Packet& packet);
  bool next_carried(Packet& packet);
  bool next_unsynced(Packet& packet);
  /// Gives `size` of the unsynchronised bytes as a chunk.
  void give_chunk(Packet& packet, std::size_t size);
  [[nodiscard]] bool at_segment_end() const;
  bool next_unsynced_block(Packet& packet);
  void search_byte();
  void give_chunk_of_block(Packet& packet);
  void give_async_of_block(Packet& packet);
  void show(std::size_t size);
  /// After a bad packet: the search begins.
  void lose_sync();

  // Readers: return the length of the packet at `at`, or 0 if more bytes are needed; then nothing
  // has changed.  A reader that is not kChecked may look at kMaxBranch bytes.
  std::size_t read(const std::uint8_t* at, std::size_t available, Packet& packet);
  template <bool kChecked, bool kCycles>
  std::size_t read_branch(const std::uint8_t* at, std::size_t available, Packet& packet);
  /// A branch with one to four address bytes and no information, as nearly every one is; read
  /// without a branch on the number of bytes.  0: it is another kind, and nothing has changed.
  template <bool kCycles>
  std::size_t read_short_branch(const std::uint8_t* at, Packet& packet);
  std::size_t read_waypoint_update(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_isync(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_async(const std::uint8_t* at, std::size_t available, Packet& packet);
  /// Zeros before `at`, which is in the block or in the carried bytes: at most kAsyncZeros.
  [[nodiscard]] std::size_t zeros_in_front(const std::uint8_t* at) const {
    return at == carry_.data() ? carry_zeros_ : zeros_before(static_cast<std::size_t>(at - data_));
  }
  /// The end of an A-sync that has `zeros` zeros of its own.
  std::size_t take_async(std::size_t zeros, Packet& packet);
  std::size_t read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_context_id(const std::uint8_t* at, std::size_t available, Packet& packet);

  /// The bits of an address as A0 to A4 hold them, in the Thumb view.
  struct AddressField {
    std::uint64_t bits = 0;
    unsigned count = 0;  ///< The number of bytes.
    std::uint8_t last = 0;
  };
  template <bool kChecked>
  static AddressField read_address(const std::uint8_t* at, std::size_t available);
  /// Updates the registers and the packet with the address.
  void apply_address(const AddressField& field, Packet& packet);

  /// Member by member: a copy of the whole struct would wait for the stores of its parts.
  void set_address(std::uint32_t value, unsigned width, Packet& packet) {
    const auto update_bits = static_cast<std::uint8_t>(width);
    const std::uint8_t valid_bits = std::max(address_.valid_bits, update_bits);
    address_.value = packet.address.value = value;
    address_.valid_bits = packet.address.valid_bits = valid_bits;
    address_.update_bits = packet.address.update_bits = update_bits;
  }

  struct CycleCount {
    std::uint32_t value = 0;
    unsigned length = 0;  ///< 0: more bytes are needed.
  };
  template <bool kChecked>
  static CycleCount read_cycle_count(const std::uint8_t* at, std::size_t available);

  /// Marks the packet if this conflict must be reported.
  void conflict(Packet& packet, RegisterConflict what) {
    if (conflicts_.arise(what)) packet.conflict = what;
  }

  void took(std::size_t position, std::size_t length) {
    raw_ = data_ + position;
    raw_size_ = length;
    position_ = position + length;
  }

  /// The search with Quirks::chunks_end_with_blocks; ptm.md 7.
  struct BlockSearch {
    std::size_t candidates = 0;  ///< Zeros that may begin an A-sync.
    std::size_t zeros = 0;       ///< The last of them that were found without a break.
    bool open = false;           ///< A zero or 0x80 continues the candidate.
    std::size_t carried = 0;     ///< The candidates at the start of the segment.
    std::size_t counted = 0;     ///< Unsynchronised bytes that are not given yet,
    std::size_t start = 0;       ///< and where their bytes are taken from.
    TraceIndex index = 0;
    bool in_segment = false;
    bool flushing = false;
    bool carried_given = false;  ///< By the current flush.
    bool async_due = false;
    friend bool operator==(const BlockSearch&, const BlockSearch&) = default;
  };

  Config config_;
  Quirks quirks_;
  BlockSearch search_;
  bool monitored_ = false;
  std::vector<std::uint8_t> shown_;  ///< The bytes of the last packet of that search.
  bool cycle_accurate_;
  bool long_timestamps_;
  std::uint8_t context_id_bytes_;

  std::size_t position_ = 0;  ///< In the current block.

  // The bytes of the last packet: in the block, or in held_ if raw_ is nullptr.
  std::array<std::uint8_t, kMaxPacketBytes> held_{};
  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;

  ParserStatistics statistics_;
  Packet packet_;  ///< What parse() passes to its visitor.
};

}  // namespace waymark::ptm
