// Bytes to packets.  See ptm.md 3 to 7.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "waymark/frames/block_reader.h"
#include "waymark/ptm/atoms.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"
#include "waymark/ptm/quirks.h"

namespace waymark::ptm {

using frames::ParserStatistics;

/// What a parser keeps between blocks; ptm.md 2.
struct ParserState {
  /// The largest size of a packet, and of a chunk of unsynchronised bytes.
  static constexpr std::size_t kMaxPacketBytes = 32;

  // The unfinished packet.
  std::array<std::uint8_t, kMaxPacketBytes> carry_{};
  std::size_t carry_size_ = 0;
  std::array<TraceIndex, kMaxPacketBytes> carry_index_{};
  std::size_t carry_zeros_ = 0;  ///< Before the packet.

  // The search for the first A-sync: other bytes, then zeros that may belong to an A-sync.
  bool synced_ = false;
  std::array<std::uint8_t, kMaxPacketBytes> unsynced_{};
  std::array<TraceIndex, kMaxPacketBytes> unsynced_index_{};
  std::size_t unsynced_size_ = 0;  ///< Includes the zeros.
  std::size_t zeros_ = 0;
  bool first_chunk_given_ = false;
  bool jumped_ = false;  ///< The search began with a jump: its chunks are not chunks of the stream.
  bool first_chunk_given_before_ = false;  ///< The value before the jump.
  std::uint8_t doubtful_bytes_ = 0;        ///< Bytes still to be checked for cycle counts.

  // Registers that packets update; ptm.md 2.
  Address address_;
  isa::Isa isa_ = isa::Isa::kUnknown;
  bool alt_isa_ = false;  ///< The variable of ptm.md 5.3.
  Context context_;
  std::uint64_t timestamp_ = 0;
  // How often each doubt arose since the last A-sync, and which doubts were reported.
  std::array<std::uint8_t, kDoubtCount> doubts_{};
  std::array<bool, kDoubtCount> doubts_told_{};

  friend bool operator==(const ParserState&, const ParserState&) = default;
};

/// Pull parser: feed() a block, call next() until it returns false, then feed() the next block.  It
/// keeps at most one unfinished packet between blocks, so any chunking gives the same packets
/// (except with Quirks::chunks_end_with_blocks).  After a bad packet it searches for the next
/// A-sync.  Five zeros and 0x80 are an A-sync even if the packet before them took some of the
/// zeros: then damage before it went unnoticed, and the A-sync is shorter by those zeros.  A copy
/// is a saved state (with the block that it reads).  One owner; not thread safe.
class Parser : private ParserState, frames::ZerosReader {
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
  void end_jump() {
    first_chunk_given_ = first_chunk_given_before_;
    jumped_ = first_chunk_given_before_ = false;
  }

  static constexpr std::size_t kMaxZeros = 16;   ///< After these, the oldest are unsynchronised.
  static constexpr std::size_t kChunkSize = 16;  ///< The size of chunks of unsynchronised bytes.
  static constexpr std::size_t kMaxBranch = 12;
  static constexpr std::uint8_t kAsyncEnd = 0x80;
  static constexpr std::uint8_t kDoubtFound =
      0xFF;  ///< A value of doubtful_bytes_: the next chunk reports it.

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
  /// Keeps the carried bytes after the first `size`.
  void drop_carried(std::size_t size);
  /// After a bad packet: the search begins.
  void lose_sync();
  void doubt_unsynced(std::uint8_t byte);

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

  /// Marks the packet if this doubt arose too often to be chance and was not reported yet.
  void doubt(Packet& packet, Doubt what);

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

template <bool kChecked>
Parser::AddressField Parser::read_address(const std::uint8_t* at, std::size_t available) {
  AddressField field;
  std::uint8_t byte = at[0];
  field.bits = byte & 0x7EU;
  unsigned i = 1;
  while ((byte & 0x80) != 0 && i < 5) {
    if (kChecked && available <= i) return {};
    byte = at[i];
    if (i == 4) {
      // The instruction set determines how many bits of this byte are address bits.
      field.bits |= std::uint64_t{byte} << 28;
      ++i;
      break;
    }
    const bool last = (byte & 0x80) == 0;
    field.bits |= std::uint64_t{byte & (last ? 0x3FU : 0x7FU)} << (7 * i);
    ++i;
  }
  field.count = i;
  field.last = byte;
  return field;
}

template <bool kChecked>
Parser::CycleCount Parser::read_cycle_count(const std::uint8_t* at, std::size_t available) {
  if (kChecked && available == 0) return {};
  std::uint32_t value = at[0] >> 2 & 0xFU;
  if ((at[0] & 0x40) == 0) [[likely]]
    return {value, 1};
  for (unsigned i = 1; i < 5; ++i) {
    if (kChecked && available <= i) return {};
    value |= std::uint32_t{at[i] & 0x7FU} << (7 * i - 3);
    if ((at[i] & 0x80) == 0) return {value, i + 1};
  }
  return {value, 5};
}

inline void Parser::apply_address(const AddressField& field, Packet& packet) {
  using isa::Isa;
  Isa isa = isa_;
  std::uint64_t value = field.bits;
  unsigned width = 7 * field.count - (field.count == 1 ? 0 : 1);
  if (field.count == 5) {
    // The last byte is at [35:28].  It has five address bits in Jazelle, four in Thumb and three in
    // ARM.
    const unsigned kind = field.last >> 4 & 3U;
    unsigned bits = 31;
    isa = Isa::kA32;
    if (kind >= 2) {
      isa = Isa::kJazelle;
      bits = 33;
    } else if (kind == 1) {
      isa = Isa::kT32;
      bits = 32;
    }
    value &= (std::uint64_t{1} << bits) - 1;
    width = 32;
  }
  if (isa == Isa::kA32) {
    value <<= 1;
    if (width < 32) ++width;
  } else if (isa == Isa::kJazelle) {
    value >>= 1;
    if (width < 32) --width;
  } else if (isa != Isa::kUnknown) {
    isa = alt_isa_ ? Isa::kThumbEE : Isa::kT32;
  }
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  set_address((address_.value & ~mask) | (static_cast<std::uint32_t>(value) & mask), width, packet);
  packet.isa_changed = isa != isa_;
  isa_ = isa;
  packet.isa = isa;
}

template <bool kChecked, bool kCycles>
std::size_t Parser::read_branch(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const AddressField field = read_address<kChecked>(at, available);
  if (kChecked && field.count == 0) return 0;
  std::size_t length = field.count;
  unsigned info_bytes = 0;
  // A single address byte has address bits where longer ones have the flag.
  if (field.count > 1 && (field.last & 0x40) != 0) {
    if (kChecked && available <= length) return 0;
    info_bytes = (at[length] & 0x80) != 0 ? 2 : 1;
    length += info_bytes;
    if (kChecked && available < length) return 0;
  }
  CycleCount cycles;
  if constexpr (kCycles) {
    cycles = read_cycle_count<kChecked>(at + length, available - length);
    if (kChecked && cycles.length == 0) return 0;
  }
  packet.begin(PacketType::kBranchAddress, length + cycles.length);
  packet.info_bytes = static_cast<std::uint8_t>(info_bytes);
  if (info_bytes != 0) [[unlikely]] {
    const std::uint8_t* const info = at + field.count;
    packet.exception = static_cast<std::uint16_t>(info[0] >> 1 & 0xF);
    alt_isa_ = (info[0] & 0x40) != 0;
    context_.alt_isa = alt_isa_;
    context_.ns = (info[0] & 1) != 0;
    if (info_bytes == 2) {
      packet.exception = static_cast<std::uint16_t>(packet.exception | (info[1] & 0x1F) << 4);
      context_.hyp = (info[1] & 0x20) != 0;
    }
    packet.context = context_;
    packet.context.updated = true;
  }
  apply_address(field, packet);
  if constexpr (kCycles) {
    packet.has_cycle_count = true;
    packet.cycle_count = cycles.value;
    if ((at[length] & 0x83) != 0) [[unlikely]]
      doubt(packet, Doubt::kCycleCountForm);
  }
  return length + cycles.length;
}

template <bool kCycles>
std::size_t Parser::read_short_branch(const std::uint8_t* at, Packet& packet) {
  std::uint32_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = std::byteswap(bytes);
  const std::uint32_t ends = ~bytes & 0x80808080U;
  // The lowest byte without a continuation bit is the last.  Its bit 6 is a flag, unless it is also
  // the first byte.
  const std::uint32_t end = ends & (0U - ends);
  const bool a32 = isa_ == isa::Isa::kA32;
  const bool plain_isa = a32 || (isa_ == isa::Isa::kT32 && !alt_isa_);
  if (ends == 0 || !plain_isa || (bytes & (end >> 1) & ~0x40U) != 0) return 0;
  const auto count = static_cast<unsigned>(std::countr_zero(end)) / 8 + 1;
  const std::uint32_t bits = (bytes & 0x7EU) | (bytes >> 8 & 0x7FU) << 7 |
                             (bytes >> 16 & 0x7FU) << 14 | (bytes >> 24 & 0x7FU) << 21;
  const unsigned width = 7 * count - (count > 1 ? 1U : 0U) + (a32 ? 1U : 0U);
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  std::size_t length = count;
  CycleCount cycles;
  if constexpr (kCycles) {
    cycles = read_cycle_count<false>(at + count, kMaxBranch);
    length += cycles.length;
  }
  packet.begin(PacketType::kBranchAddress, length);
  packet.isa = isa_;
  packet.isa_changed = false;
  packet.info_bytes = 0;
  set_address((address_.value & ~mask) | ((bits << (a32 ? 1 : 0)) & mask), width, packet);
  if constexpr (kCycles) {
    packet.has_cycle_count = true;
    packet.cycle_count = cycles.value;
    if ((at[count] & 0x83) != 0) [[unlikely]]
      doubt(packet, Doubt::kCycleCountForm);
  }
  return length;
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  while (true) {
    if (synced_ && carry_size_ == 0) [[likely]] {
      if (cycle_accurate_ ? parse_in_sync<true>(visitor) : parse_in_sync<false>(visitor))
        return true;
      if (synced_) return false;
    }
    if (!next(packet_)) return false;
    if (!visitor.on_packet(packet_)) return true;
  }
}

// Each iteration of the outer loop handles one run.
template <bool kCycles, class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t* const at = data + position;
      if (size - position >= kMaxBranch) [[likely]] {
        std::size_t length = 0;
        bool go_on = true;
        if ((*at & 1) != 0) {
          length = read_short_branch<kCycles>(at, packet_);
          if (length == 0) length = read_branch<false, kCycles>(at, kMaxBranch, packet_);
          packet_.index = index(position);
          go_on = visitor.on_packet(packet_);
        } else if ((*at & 0x80) != 0) {
          length = 1;
          if constexpr (kCycles) {
            const CycleCount cycles = read_cycle_count<false>(at, kMaxBranch);
            AtomPacket atom;
            atom.length = static_cast<std::uint16_t>(cycles.length);
            atom.atom_count = 1;
            atom.atoms = (*at & 2) == 0 ? 1 : 0;
            atom.has_cycle_count = true;
            atom.cycle_count = cycles.value;
            length = cycles.length;
            go_on = visitor.on_atoms(index(position), atom);
          } else if (*at != kAsyncEnd) [[likely]] {
            go_on = visitor.on_atoms(index(position), atom_packet(*at));
          } else {
            length = 0;
          }
        }
        if (length != 0) [[likely]] {
          if (!go_on) {
            took(position, length);
            return true;
          }
          position += length;
          continue;
        }
      }
      position_ = position;
      if (!next_in_sync(packet_)) return false;
      position = position_;
      if (!visitor.on_packet(packet_)) return true;
      if (!synced_) [[unlikely]]
        return false;
    } while (position < end);
  }
  position_ = position;
  return false;
}

}  // namespace waymark::ptm
