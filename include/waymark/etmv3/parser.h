// Bytes to packets.  See etmv3.md 3 to 8.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/etmv3/config.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/etmv3/packet.h"
#include "waymark/etmv3/quirks.h"
#include "waymark/frames/block_reader.h"
#include "waymark/protocol/visitor.h"

namespace waymark::etmv3 {

using frames::ParserStatistics;

/// The state that a parser keeps between blocks, except for what only quirks need.
struct ParserState {
  /// The registers that packets update; etmv3.md 11.
  struct State {
    Address address;
    isa::Isa isa = isa::Isa::kUnknown;
    Context context;
    Address data_address;
    std::uint64_t timestamp = 0;
    SyncReason reason = SyncReason::kPeriodic;
    PacketType last_type = PacketType::kNoErrorType;
    std::uint8_t last_format = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  // The unfinished packet, or the bytes of the unsynchronised search.
  std::vector<std::uint8_t> carry_;
  TraceIndex carry_index_ = 0;
  std::size_t carry_zeros_ = 0;  ///< Before those bytes.
  bool carried_ = false;

  bool synced_ = false;
  bool zeros_ = false;          ///< The search holds only zeros: perhaps an A-sync.
  std::size_t lost_zeros_ = 0;  ///< Directly before the bytes of the search.
  TraceIndex next_index_ = 0;   ///< The index of the byte that follows the search.

  State state_;

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets.  A
/// copy is a saved state (with the block that it reads).  One owner; not thread safe.
///
/// After a bad packet the parser looks for the next A-sync and gives the skipped bytes as kNotSync.
/// A packet longer than kMaxPacketBytes is a kBadSequence of that length; legal ones are far
/// shorter.
///
/// The bytes of an A-sync occur nowhere else.  A packet that is cut takes some or all of the zeros
/// of the A-sync after it: that A-sync is still found, and marked with Packet::in_packet.
class Parser : private ParserState, frames::ZerosReader<5> {
 public:
  static constexpr std::size_t kMaxPacketBytes = 65535;

  explicit Parser(const Config& config, const ParserQuirks& quirks = {});

  /// The previous block must be used up, and this one must live until it is used up.
  void feed(const frames::StreamBlock& block);

  /// Gives the next whole packet.  Only the fields that its type carries are written.  Returns
  /// false when the block is used up.
  bool next(Packet& packet);

  /// Reads on until the block is used up or the visitor stops it.  It does what next() does,
  /// without making a packet in memory for each P-header and each short branch.  `Visitor` has
  ///   bool on_atoms(TraceIndex index, const PHeader& header);
  ///   bool on_atoms(TraceIndex index, const ShortBranch& branch);
  ///   bool on_packet(Packet& packet);
  /// which return false to stop after this packet.  As takes() states, it has
  ///   std::size_t on_p_headers(std::span<const frames::Run> runs, const std::uint8_t* data,
  ///                            std::size_t position, std::size_t size);
  /// which handles as many of the P-headers from `position` up to `size` as it likes, and returns
  /// the position after them; if it handles none, on_atoms() gets one.  `position` is in the first
  /// of the runs.  Or it has
  ///   bool on_atom_row(Bytes headers);
  /// which gets consecutive P-headers; false stops after them.  Returns true if the visitor stopped
  /// it.
  template <class Visitor>
  bool parse(Visitor&& visitor);

  /// At the end of the trace: gives the unfinished packet, as kIncompleteEot, or unsynchronised
  /// bytes.  Returns false if there are none.
  bool finish(Packet& packet);

  /// Loses synchronisation and forgets addresses and state.
  void reset();

  /// Bytes are missing before the next block: the parser loses synchronisation, but keeps the state
  /// that no synchronisation point restates.
  void jump();

  /// Both will read what follows in the same way.  Both have used up their blocks; no quirks.
  [[nodiscard]] bool same_state(const Parser& other) const {
    return settled_state() == other.settled_state() &&
           zeros_before_next() == other.zeros_before_next();
  }

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
  [[nodiscard]] ParserState settled_state() const;

  template <class Visitor>
  bool parse_in_sync(Visitor& visitor);
  std::size_t read_short_branch(const std::uint8_t* at, ShortBranch& branch);
  /// Reads a packet at `position` that is not a valid P-header; false: unfinished, and carried.
  bool read_at(std::size_t position, Packet& packet);
  bool next_carried(Packet& packet);
  void took(std::size_t position, std::size_t length) {
    raw_ = data_ + position;
    raw_size_ = length;
    position_ = position + length;
  }

  // -- The search for an A-sync. --
  /// The zeros directly before a packet that is read, whichever packets they belong to.
  [[nodiscard]] std::size_t zeros_in_front(const std::uint8_t* at) const {
    if (quirks_.async_needs_own_zeros) return 0;
    return at == carry_.data() ? carry_zeros_ : zeros_before(static_cast<std::size_t>(at - data_));
  }
  /// The last byte of an A-sync whose zeros were taken by packets.
  [[nodiscard]] bool ends_async(const std::uint8_t* at) const {
    return *at == 0x80 && zeros_in_front(at) == kAsyncZeros;
  }
  bool next_unsynced(Packet& packet);
  void give_unsynced(Packet& packet, PacketType type, std::size_t size, bool zeros_dropped);
  [[nodiscard]] std::size_t segment_end() const;
  void lose_sync();

  // -- Readers: return the length of the packet at `at`, or 0 if more bytes are needed; then
  // nothing has changed. --
  std::size_t read(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_async(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t take_async(std::size_t zeros, Packet& packet);
  std::size_t read_branch(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_isync(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_cycle_count(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_context_id(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_transfer(const std::uint8_t* at, std::size_t available, Packet& packet);
  std::size_t read_broken_transfer(const std::uint8_t* at, std::size_t available, Packet& packet);

  struct BranchFrame;
  [[nodiscard]] BranchFrame frame_branch(const std::uint8_t* at, std::size_t available) const;
  struct SyncFrame;
  [[nodiscard]] SyncFrame frame_isync(const std::uint8_t* at, std::size_t available) const;
  [[nodiscard]] BranchFrame frame_second_address(const std::uint8_t* at, std::size_t length,
                                                 std::size_t available) const;
  void read_sync_address(std::uint8_t info, std::uint32_t word, State& next) const;
  void settle_isync(const State& next, Packet& packet);
  bool read_second_address(Bytes bytes, Packet& packet);
  void read_exception(Bytes bytes, Packet& packet);
  bool update_address(Bytes bytes, Packet& packet);
  void fill_unfinished(Packet& packet, PacketType type);
  std::size_t bad(Packet& packet, PacketType type, PacketType error_type, std::size_t length);
  void note_rest(const Packet& packet);
  void note_bad_sequence(Packet& packet, PacketType error_type = PacketType::kBadSequence);

  static constexpr std::size_t kShortBranchBytes = 4;
  static constexpr bool is_branch(std::uint8_t byte) { return (byte & 1) != 0; }

  Config config_;
  ParserQuirks quirks_;
  bool alternative_;  ///< The encoding of branches.
  const std::array<PHeader, 256>* p_headers_;

  std::size_t position_ = 0;  ///< In the current block.

  std::vector<std::uint8_t> given_;  ///< The bytes of the last packet if they are in no block.

  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;

  bool entered_ = false;              ///< The search has begun to look at the current bytes.
  TraceIndex rest_index_ = kNoIndex;  ///< The next packet has it; quirk rest_follows_extra_zero.
  bool first_given_ = false;  ///< Unsynchronised bytes were given since the reset; for a quirk.

  ParserStatistics statistics_;
  Packet rare_;  ///< What parse() passes to its visitor, except for P-headers.
};

// Reads a branch of which kShortBranchBytes can be read.  Returns its length if it has no more
// bytes and changes nothing but the address; otherwise 0.
inline std::size_t Parser::read_short_branch(const std::uint8_t* at, ShortBranch& branch) {
  std::uint32_t value = at[0] >> 1 & 0x3FU;
  unsigned count = 6;
  std::size_t length = 1;
  std::uint8_t byte = at[0];
  while ((byte & 0x80) != 0) {
    if (length == kShortBranchBytes) return 0;
    byte = at[length++];
    value |= (byte & 0x7FU) << count;
    count += 7;
  }
  if (alternative_ && length > 1) {
    if ((byte & 0x40) != 0) return 0;
    --count;
  }
  const unsigned shift = address_shift(state_.isa);
  const unsigned width = count + shift;
  const std::uint32_t mask = (1U << width) - 1;
  // Member by member: a copy of the whole struct would wait for the stores of its parts.
  Address& address = state_.address;
  branch.address = address.value = (address.value & ~mask) | value << shift;
  branch.update_bits = address.update_bits = static_cast<std::uint8_t>(width);
  branch.valid_bits = address.valid_bits = std::max(address.valid_bits, branch.update_bits);
  state_.context.updated_context_id = false;
  state_.last_type = PacketType::kBranchAddress;
  branch.isa = state_.isa;
  branch.context = &state_.context;
  branch.length = static_cast<std::uint8_t>(length);
  return length;
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  while (true) {
    if (synced_ && !carried_) [[likely]] {
      if (parse_in_sync(visitor)) return true;
      if (synced_ || position_ >= size_) return false;
    }
    if (!next(rare_)) return false;
    if (!visitor.on_packet(rare_)) return true;
  }
}

// Each iteration of the outer loop handles one run.
template <class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  static_assert(protocol::has_what_it_takes<Visitor>());
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  const std::array<PHeader, 256>& p_headers = *p_headers_;
  std::size_t position = position_;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t byte = data[position];
      // Only P-headers have a valid row.
      const PHeader& header = p_headers[byte];
      // Zeros of an A-sync can only be before the first P-header of a row.
      if (header.valid && !ends_async(data + position)) [[likely]] {
        if constexpr (Visitor::takes().p_headers) {
          const std::size_t next = visitor.on_p_headers(runs_.subspan(run_), data, position, size);
          if (next != position) {
            state_.last_type = PacketType::kPHeader;
            state_.last_format = p_headers[data[next - 1]].format;
            position = next;
            continue;
          }
        }
        if constexpr (Visitor::takes().atom_rows) {
          std::size_t next = position + 1;
          while (next != end && p_headers[data[next]].valid) ++next;
          state_.last_type = PacketType::kPHeader;
          state_.last_format = p_headers[data[next - 1]].format;
          if (!visitor.on_atom_row(Bytes{data + position, next - position})) {
            took(position, next - position);
            return true;
          }
          position = next;
          continue;
        }
        state_.last_type = PacketType::kPHeader;
        state_.last_format = header.format;
        if (!visitor.on_atoms(index(position), header)) {
          took(position, 1);
          return true;
        }
        ++position;
        continue;
      }
      if (is_branch(byte) && size - position >= kShortBranchBytes) {
        ShortBranch branch;
        if (const std::size_t length = read_short_branch(data + position, branch); length != 0)
            [[likely]] {
          const TraceIndex at = index(position);
          position += length;
          if (!visitor.on_atoms(at, branch)) {
            took(position - length, length);
            return true;
          }
          continue;
        }
      }
      rare_.index = index(position);
      if (!read_at(position, rare_)) return false;
      position = position_;
      if (!visitor.on_packet(rare_)) return true;
      if (!synced_) [[unlikely]]
        return false;
    } while (position < end);
  }
  position_ = position;
  return false;
}

}  // namespace waymark::etmv3
