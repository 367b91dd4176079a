#include "waymark/ptm/parser.h"

#include <algorithm>

#include "header_table.h"
#include "waymark/base/bits.h"
#include "waymark/base/cursor.h"
#include "waymark/ptm/parser_inl.h"

namespace waymark::ptm {
namespace {

constexpr std::size_t kIncomplete = 0;
}  // namespace

Parser::Parser(const Config& config, const Quirks& quirks)
    : ParserState(config),
      config_(config),
      quirks_(quirks),
      cycle_accurate_(config.cycle_accurate()),
      long_timestamps_(config.timestamp_bits() == 64),
      context_id_bytes_(static_cast<std::uint8_t>(config.context_id_bytes())) {}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  search_.in_segment = false;  // The rest of withdraw() comes as a new segment.
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  static_cast<ParserState&>(*this) = ParserState(config_);
  search_ = {};
  leave_block();
  position_ = 0;
}

void Parser::jump() {
  if (!chunks_.jumped) chunks_.given_before = chunks_.given;
  chunks_.jumped = true;
  synced_ = false;
  carry_.reset();
  unsynced_.reset();
  zeros_ = 0;
  conflicts_.stop_watching();
  leave_block();
  position_ = 0;
}

// The state without leftovers that no longer have a meaning.
ParserState Parser::settled_state() const {
  ParserState state = *this;
  if (carry_.empty()) state.carry_zeros_ = 0;
  if (synced_) {
    state.unsynced_.reset();
    state.zeros_ = 0;
  }
  return state;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return next_unsynced(packet);
  if (!carry_.empty()) [[unlikely]]
    return next_carried(packet);
  if (position_ >= size_) return false;
  return next_in_sync(packet);
}

std::size_t Parser::next(std::span<Packet> out) {
  struct Store {
    Packet* at;
    Packet* end;
    bool on_atoms(TraceIndex index, const AtomPacket& atoms) {
      at->index = index;
      copy_atoms(atoms, *at);
      return ++at != end;
    }
    bool on_packet(const Packet& packet) {
      *at = packet;
      return ++at != end;
    }
  };
  if (out.empty()) return 0;
  Store store{out.data(), out.data() + out.size()};
  parse(store);
  return static_cast<std::size_t>(store.at - out.data());
}

bool Parser::next_in_sync(Packet& packet) {
  const std::size_t position = position_;
  packet.index = index_at(position);
  const std::size_t length = read(data_ + position, size_ - position, packet);
  if (length != kIncomplete) {
    took(position, length);
    return true;
  }
  carry_zeros_ = zeros_before(position);
  for (std::size_t at = position; at < size_; ++at) carry_.push(data_[at], index_at(at));
  position_ = size_;
  return false;
}

// A packet is short: byte by byte is fast enough, and takes only what belongs to it.  Zeros that a
// packet leaves keep their own indexes, which may be in several frames: BlockReader::complete(),
// which knows only the index of the first byte, does not give them.
bool Parser::next_carried(Packet& packet) {
  while (position_ < size_) {
    carry_.push(data_[position_], index_at(position_));
    ++position_;
    packet.index = carry_.index();
    const std::size_t length = read(carry_.data(), carry_.size(), packet);
    if (length == kIncomplete) continue;
    held_ = carry_.bytes();
    raw_ = nullptr;
    raw_size_ = length;
    // Only surplus zeros are shorter than the carried bytes.
    carry_.drop(length);
    carry_zeros_ = kAsyncZeros;
    return true;
  }
  return false;
}

void Parser::lose_sync() {
  if (quirks_.no_search_after_bad_packet) return;
  synced_ = false;
  chunks_.given = true;
}

// ---- The unsynchronised search; ptm.md 7 --------------------------------------------------------

void Parser::give_chunk(Packet& packet, std::size_t size) {
  std::copy_n(unsynced_.data(), size, held_.begin());
  raw_ = nullptr;
  raw_size_ = size;
  packet.begin(PacketType::kNotSync, size);
  packet.index = unsynced_.index();
  packet.monitor_only = chunks_.given;
  chunks_.given = true;
  if (conflicts_.take_found()) {
    packet.conflict = RegisterConflict::kCycleCountsInFlow;
    packet.monitor_only = false;
  }
  statistics_.unsynced_bytes += size;
  unsynced_.drop(size);
}

bool Parser::next_unsynced(Packet& packet) {
  if (quirks_.chunks_end_with_blocks) return next_unsynced_block(packet);
  while (true) {
    const std::size_t counted = unsynced_.size() - zeros_;
    const bool async = zeros_ >= kAsyncZeros && zeros_ < kMaxZeros && position_ < size_ &&
                       data_[position_] == 0x80;
    if (counted != 0 && (counted >= kChunkSize || async)) {
      give_chunk(packet, counted);
      return true;
    }
    if (position_ >= size_) return false;
    const TraceIndex index = index_at(position_);
    const std::uint8_t byte = data_[position_++];
    if (async) {
      synced_ = true;
      if (chunks_.jumped) end_jump();
      std::fill_n(held_.begin(), zeros_, std::uint8_t{0});
      held_[zeros_] = byte;
      raw_ = nullptr;
      raw_size_ = zeros_ + 1;
      packet.begin(PacketType::kAsync, raw_size_);
      packet.in_packet = false;
      conflicts_.forget_counts();
      conflicts_.stop_watching();
      packet.index = unsynced_.index();
      unsynced_.reset();
      zeros_ = 0;
      return true;
    }
    conflicts_.take_unsynced(byte);
    unsynced_.push(byte, index);
    if (byte != 0) {
      zeros_ = 0;
    } else if (++zeros_ == kMaxZeros) {
      zeros_ = kAsyncZeros;
    }
  }
}

bool Parser::finish(Packet& packet) {
  if (!synced_ && quirks_.chunks_end_with_blocks) {
    if (search_.candidates == 0) return false;
    show(search_.candidates);
    packet.begin(PacketType::kIncompleteEot, raw_size_);
    packet.index = search_.index;
    packet.error_type = PacketType::kNotSync;
    search_ = {};
    return true;
  }
  const Held& held = synced_ ? carry_ : unsynced_;
  if (held.empty()) return false;
  held_ = held.bytes();
  raw_ = nullptr;
  raw_size_ = held.size();
  packet.begin(PacketType::kIncompleteEot, raw_size_);
  packet.index = held.index();
  packet.error_type = synced_ ? kHeaderTypes[held_[0]] : PacketType::kNotSync;
  carry_.reset();
  unsynced_.reset();
  zeros_ = 0;
  return true;
}

// ---- Readers ------------------------------------------------------------------------------------

std::size_t Parser::read(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const PacketType type = kHeaderTypes[*at];
  switch (type) {
    case PacketType::kBranchAddress:
      return cycle_accurate_ ? read_branch<true, true>(at, available, packet)
                             : read_branch<true, false>(at, available, packet);
    case PacketType::kAtom: {
      if (!cycle_accurate_) {
        // No unit sends 0x80 as an atom: bit 2 of a single one is set.  With cycle counts it can be
        // an atom, and an I-sync can be all zeros.
        if (*at == kAsyncEnd && !quirks_.no_search_after_bad_packet &&
            zeros_in_front(at) == kAsyncZeros)
          return take_async(0, packet);
        copy_atoms(atom_packet(*at), packet);
        return 1;
      }
      const CycleCount cycles = read_cycle_count<true>(at, available);
      if (cycles.length == 0) return kIncomplete;
      packet.begin(type, cycles.length);
      packet.atom_count = 1;
      packet.atoms = (*at & 2) == 0 ? 1 : 0;
      packet.has_cycle_count = true;
      packet.cycle_count = cycles.value;
      return cycles.length;
    }
    case PacketType::kAsync:
      return read_async(at, available, packet);
    case PacketType::kIsync:
      return read_isync(at, available, packet);
    case PacketType::kWaypointUpdate:
      return read_waypoint_update(at, available, packet);
    case PacketType::kContextId:
      return read_context_id(at, available, packet);
    case PacketType::kTimestamp:
      return read_timestamp(at, available, packet);
    case PacketType::kVmid:
      if (available < 2) return kIncomplete;
      packet.begin(type, 2);
      context_.vmid = at[1];
      packet.context = context_;
      return 2;
    case PacketType::kReserved:
      packet.begin(type, 1);
      ++statistics_.bad_headers;
      if (!cycle_accurate_ && RegisterConflicts::is_like_cycle_count(*at)) {
        conflict(packet, RegisterConflict::kCycleCountsInFlow);
        if (!quirks_.no_search_after_bad_packet) conflicts_.watch();
      }
      lose_sync();
      return 1;
    default:  // Trigger, ignore, exception return.
      packet.begin(type, 1);
      return 1;
  }
}

std::size_t Parser::read_async(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::size_t limit = std::min(available, kMaxZeros);
  std::size_t zeros = 1;
  while (zeros < limit && at[zeros] == 0) ++zeros;
  if (zeros == limit && zeros < kMaxZeros) return kIncomplete;
  if (zeros == kMaxZeros && !quirks_.async_has_at_most_15_zeros) {
    packet.begin(PacketType::kNotSync, kMaxZeros - kAsyncZeros);
    packet.monitor_only = true;
    statistics_.unsynced_bytes += packet.length;
    return packet.length;
  }
  if (zeros < kMaxZeros && at[zeros] == kAsyncEnd) {
    const std::size_t others = quirks_.no_search_after_bad_packet ? 0 : zeros_in_front(at);
    if (zeros + others >= kAsyncZeros) return take_async(zeros, packet);
  }
  const std::size_t length = std::min(zeros + 1, kMaxZeros);
  packet.begin(PacketType::kBadSequence, length);
  packet.error_type = PacketType::kAsync;
  ++statistics_.bad_sequences;
  lose_sync();
  return length;
}

std::size_t Parser::take_async(std::size_t zeros, Packet& packet) {
  packet.begin(PacketType::kAsync, zeros + 1);
  packet.in_packet = zeros < kAsyncZeros;
  conflicts_.forget_counts();
  return zeros + 1;
}

std::size_t Parser::read_isync(const std::uint8_t* at, std::size_t available, Packet& packet) {
  using isa::Isa;
  if (available < 6) return kIncomplete;
  const std::uint8_t info = at[5];
  const auto reason = static_cast<IsyncReason>(bits<6, 5>(info));
  const bool counted = cycle_accurate_ && reason != IsyncReason::kPeriodic;
  CycleCount cycles;
  if (counted) {
    cycles = read_cycle_count<true>(at + 6, available - 6);
    if (cycles.length == 0) return kIncomplete;
  }
  const std::size_t counted_end = 6 + cycles.length;
  const std::size_t length = counted_end + context_id_bytes_;
  if (available < length) return kIncomplete;
  packet.begin(PacketType::kIsync, length);
  packet.reason = reason;
  packet.has_cycle_count = counted;
  packet.cycle_count = cycles.value;
  const auto value = static_cast<std::uint32_t>(Cursor({at + 1, 4}).little(4));
  address_ = {.value = value & ~1U, .valid_bits = 32, .update_bits = 32};
  packet.address = address_;
  context_.ns = bit<3>(info);
  context_.alt_isa = bit<2>(info);
  context_.hyp = bit<1>(info);
  Isa isa = Isa::kA32;
  if ((value & 1) != 0) isa = context_.alt_isa ? Isa::kThumbEE : Isa::kT32;
  packet.isa_changed = isa != isa_;
  packet.isa = isa_ = isa;
  if (context_id_bytes_ != 0)
    context_.context_id = static_cast<std::uint32_t>(
        Cursor({at + counted_end, context_id_bytes_}).little(context_id_bytes_));
  packet.context = context_;
  packet.context.updated = true;
  packet.context.updated_context_id = context_id_bytes_ != 0;
  return length;
}

std::size_t Parser::read_waypoint_update(const std::uint8_t* at, std::size_t available,
                                         Packet& packet) {
  if (available < 2) return kIncomplete;
  const AddressField field = read_address<true>(at + 1, available - 1);
  if (field.count == 0) return kIncomplete;
  const bool has_info = field.count == 5 && bit<6>(field.last);
  const std::size_t length = 1 + field.count + (has_info ? 1 : 0);
  if (available < length) return kIncomplete;
  packet.begin(PacketType::kWaypointUpdate, length);
  packet.info_bytes = has_info ? 1 : 0;
  if (has_info) context_.alt_isa = alt_isa_ = bit<6>(at[length - 1]);
  packet.context = context_;
  apply_address(field, packet);
  return length;
}

std::size_t Parser::read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const unsigned most = long_timestamps_ ? 9 : 7;
  std::uint64_t value = 0;
  unsigned count = 0;
  unsigned width = 0;
  bool more = true;
  while (more) {
    if (available <= 1 + count) return kIncomplete;
    const std::uint8_t byte = at[1 + count];
    const unsigned last_bits = long_timestamps_ ? 8 : 6;
    const unsigned bits = ++count < most ? 7 : last_bits;
    value |= (byte & low_mask(bits)) << width;
    width += bits;
    more = count < most && bit<7>(byte);
  }
  CycleCount cycles;
  if (cycle_accurate_) {
    cycles = read_cycle_count<true>(at + 1 + count, available - 1 - count);
    if (cycles.length == 0) return kIncomplete;
  }
  const std::size_t length = 1 + count + cycles.length;
  packet.begin(PacketType::kTimestamp, length);
  if (!long_timestamps_ && count == most && (at[count] & 0xC0) != 0)
    conflict(packet, RegisterConflict::kTimestampTooLong);
  packet.clock_changed = bit<2>(at[0]);
  packet.has_cycle_count = cycle_accurate_;
  packet.cycle_count = cycles.value;
  timestamp_ = (timestamp_ & ~low_mask(width)) | value;
  packet.timestamp = timestamp_;
  packet.timestamp_bits = static_cast<std::uint8_t>(width);
  return length;
}

std::size_t Parser::read_context_id(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::size_t length = 1U + context_id_bytes_;
  if (available < length) return kIncomplete;
  packet.begin(PacketType::kContextId, length);
  context_.context_id =
      static_cast<std::uint32_t>(Cursor({at + 1, context_id_bytes_}).little(context_id_bytes_));
  packet.context = context_;
  packet.context.updated_context_id = true;
  if (context_id_bytes_ == 0) conflict(packet, RegisterConflict::kContextIdOff);
  return length;
}

}  // namespace waymark::ptm
