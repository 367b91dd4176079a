#include "waymark/etmv3/parser.h"

#include <utility>

#include "header_table.h"
#include "waymark/base/cursor.h"

namespace waymark::etmv3 {
namespace {

constexpr std::size_t kIncomplete = 0;

bool is_extra_zero(const Packet& packet) {
  return packet.type == PacketType::kBadSequence && packet.extra_zero;
}

}  // namespace

Parser::Parser(const Config& config, const ParserQuirks& quirks)
    : config_(config),
      quirks_(quirks),
      alternative_(config.alternative_branches()),
      p_headers_(&p_headers(config.cycle_accurate(), quirks.tolerant_p_headers)) {
  carry_.reserve(64);
}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  entered_ = false;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  synced_ = carried_ = false;
  carry_.clear();
  zeros_ = entered_ = first_given_ = false;
  lost_zeros_ = 0;
  rest_index_ = kNoIndex;
  leave_block();
  position_ = 0;
  state_ = {};
}

void Parser::jump() {
  synced_ = carried_ = false;
  carry_.clear();
  zeros_ = entered_ = false;
  lost_zeros_ = 0;
  leave_block();
  position_ = 0;
}

// The state without leftovers that no longer have a meaning.
ParserState Parser::settled_state() const {
  ParserState state = *this;
  if (synced_) {
    if (!carried_) state.carry_.clear();
    state.zeros_ = false;
    state.lost_zeros_ = 0;
    state.next_index_ = 0;
  }
  if (state.carry_.empty()) state.carry_index_ = state.next_index_ = 0;
  if (!carried_) state.carry_zeros_ = 0;
  return state;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return next_unsynced(packet);
  if (carried_) [[unlikely]]
    return next_carried(packet);
  if (position_ >= size_) return false;
  packet.index = index_at(position_);
  const PHeader& header = (*p_headers_)[data_[position_]];
  if (!header.valid || ends_async(data_ + position_)) return read_at(position_, packet);
  state_.last_type = PacketType::kPHeader;
  state_.last_format = header.format;
  copy_atoms(header, packet);
  took(position_, 1);
  return true;
}

bool Parser::read_at(std::size_t position, Packet& packet) {
  if (rest_index_ != kNoIndex) [[unlikely]]
    packet.index = std::exchange(rest_index_, kNoIndex);
  const std::size_t length = read(data_ + position, size_ - position, packet);
  if (length == kIncomplete) {
    carry_.assign(data_ + position, data_ + size_);
    carry_index_ = packet.index;
    carry_zeros_ = zeros_before(position);
    carried_ = true;
    position_ = size_;
    return false;
  }
  took(position, length);
  note_rest(packet);
  if (is_bad(packet.type) && !quirks_.keeps_sync) lose_sync();
  return true;
}

// The rest after a surplus zero has the next index, even if it is in a later frame.
void Parser::note_rest(const Packet& packet) {
  if (quirks_.rest_follows_extra_zero && is_extra_zero(packet)) rest_index_ = packet.index + 1;
}

bool Parser::next_carried(Packet& packet) {
  packet.index = carry_index_;
  const auto [length, before] =
      complete(carry_, position_, [&] { return read(carry_.data(), carry_.size(), packet); });
  if (length == 0) return false;
  given_.assign(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(length));
  raw_ = given_.data();
  raw_size_ = length;
  // A bad packet need not include all carried bytes; quirk keeps_sync.
  carried_ = length < before;
  carry_.resize(before);
  carry_.erase(carry_.begin(),
               carry_.begin() + static_cast<std::ptrdiff_t>(std::min(length, before)));
  carry_index_ += length;
  if (!carried_) {
    position_ += length - before;
    note_rest(packet);
  }
  if (is_bad(packet.type) && !quirks_.keeps_sync) lose_sync();
  return true;
}

std::size_t Parser::bad(Packet& packet, PacketType type, PacketType error_type,
                        std::size_t length) {
  packet.type = type;
  packet.error_type = error_type;
  packet.extra_zero = false;
  ++(type == PacketType::kBadSequence ? statistics_.bad_sequences : statistics_.bad_headers);
  return length;
}

// Under quirks: the packet keeps its type, and the error is reported with it.
void Parser::note_bad_sequence(Packet& packet, PacketType error_type) {
  packet.error_type = error_type;
  ++statistics_.bad_sequences;
}

std::size_t Parser::read(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::uint8_t header = *at;
  const HeaderEntry& entry = kHeaders[header];
  packet.begin(entry.type, 0);
  packet.header = header;
  const PacketType previous = state_.last_type;
  // Placeholders get their type before they are judged.
  const bool names_previous =
      quirks_.bad_mode_names_previous && entry.type != PacketType::kOooAddress;
  std::size_t length = 1;
  if (!legal(entry.gate, config_)) {
    length = bad(packet, PacketType::kBadTraceMode, names_previous ? previous : entry.type, 1);
  } else {
    switch (entry.type) {
      case PacketType::kBranchAddress:
        length = read_branch(at, available, packet);
        break;
      case PacketType::kPHeader: {
        const PHeader& p_header = (*p_headers_)[header];
        if (ends_async(at)) {
          packet.type = PacketType::kASync;
          length = take_async(0, packet);
        } else if (p_header.valid) {
          copy_atoms(p_header, packet);
          state_.last_format = p_header.format;
        } else if (quirks_.tolerant_p_headers) {
          copy_atoms(p_header, packet);
          if (p_header.format == kFormatStale) packet.format = state_.last_format;
          state_.last_format = packet.format;
          packet.error_type = PacketType::kReserved;
          ++statistics_.bad_headers;
        } else {
          length = bad(packet, PacketType::kReserved, PacketType::kPHeader, 1);
        }
        break;
      }
      case PacketType::kASync:
        length = read_async(at, available, packet);
        break;
      case PacketType::kCycleCount:
        length = read_cycle_count(at, available, packet);
        break;
      case PacketType::kISync:
      case PacketType::kISyncCycle:
        length = read_isync(at, available, packet);
        break;
      case PacketType::kOooData:
      case PacketType::kOooAddress:
      case PacketType::kNormData:
      case PacketType::kValueNotTraced:
        length = quirks_.broken_data_packets ? read_broken_transfer(at, available, packet)
                                             : read_transfer(at, available, packet);
        break;
      case PacketType::kContextId:
        length = read_context_id(at, available, packet);
        break;
      case PacketType::kVmid:
        if (available < 2) return kIncomplete;
        state_.context.vmid = at[1];
        state_.context.updated_context_id = false;
        packet.context = state_.context;
        length = 2;
        break;
      case PacketType::kTimestamp:
        length = read_timestamp(at, available, packet);
        break;
      case PacketType::kReserved:
        length = bad(packet, PacketType::kReserved, PacketType::kNoErrorType, 1);
        break;
      default:
        break;
    }
  }
  if (length == kIncomplete) return kIncomplete;
  packet.length = static_cast<std::uint16_t>(length);
  state_.last_type = packet.type;
  return length;
}

// See etmv3.md 6.2.
std::size_t Parser::read_async(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::size_t most = quirks_.extra_zeros_are_bad ? kAsyncZeros + 1 : kMaxPacketBytes;
  std::size_t zeros = 1;
  while (zeros < std::min(available, most) && at[zeros] == 0) ++zeros;
  if (zeros == most) {
    const std::size_t length = bad(packet, PacketType::kBadSequence, PacketType::kASync,
                                   quirks_.extra_zeros_are_bad ? 1 : kMaxPacketBytes);
    packet.extra_zero = true;
    return length;
  }
  if (zeros == available) return kIncomplete;
  if (zeros + zeros_in_front(at) < kAsyncZeros || at[zeros] != 0x80)
    return bad(packet, PacketType::kBadSequence, PacketType::kASync, zeros);
  return take_async(zeros, packet);
}

/// Takes an A-sync with this many zeros of its own.
std::size_t Parser::take_async(std::size_t zeros, Packet& packet) {
  packet.in_packet = zeros < kAsyncZeros;
  // Lost packets may have changed it, and no packet sends it whole again.
  if (packet.in_packet) state_.data_address = {};
  return zeros + 1;
}

std::size_t Parser::read_cycle_count(const std::uint8_t* at, std::size_t available,
                                     Packet& packet) {
  Cursor cursor({at + 1, available - 1});
  packet.cycle_count = static_cast<std::uint32_t>(cursor.continued(5));
  return cursor.overrun() ? kIncomplete : 1 + cursor.position();
}

// See etmv3.md 6.3.
std::size_t Parser::read_context_id(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const unsigned size = config_.context_id_bytes();
  if (size == 0 && !quirks_.context_id_takes_byte)
    return bad(packet, PacketType::kBadTraceMode, PacketType::kContextId, 1);
  const std::size_t length = 1 + std::max(size, 1U);
  if (available < length) return kIncomplete;
  if (size != 0) {
    state_.context.context_id = static_cast<std::uint32_t>(Cursor({at + 1, size}).little(size));
    state_.context.updated_context_id = true;
  } else {
    state_.context.context_id = 0;
    state_.context.updated_context_id = false;
    note_bad_sequence(packet);
  }
  packet.context = state_.context;
  return length;
}

// See etmv3.md 6.5.
std::size_t Parser::read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const unsigned most = config_.timestamp_bytes();
  std::uint64_t value = 0;
  unsigned width = 0;
  std::size_t length = 1;
  while (true) {
    if (length >= available) return kIncomplete;
    const std::uint8_t byte = at[length++];
    if (length == most + 1) {
      // The last possible byte is complete (64 bits), or has six bits (48).
      value |= std::uint64_t{most == 9 ? byte : byte & 0x3FU} << width;
      width = most == 9 ? 64 : 48;
      if (!quirks_.endless_timestamps) break;
    } else if (length <= most) {
      value |= std::uint64_t{byte & 0x7FU} << width;
      width += 7;
    }
    if ((byte & 0x80) == 0) break;
    if (length == kMaxPacketBytes)
      return bad(packet, PacketType::kBadSequence, PacketType::kTimestamp, length);
  }
  state_.timestamp = (state_.timestamp & ~low_mask(width)) | value;
  packet.timestamp = state_.timestamp;
  packet.timestamp_bits = static_cast<std::uint8_t>(width);
  packet.frequency_change = (at[0] & 4) != 0;
  return length;
}

// For a packet that the end of the trace cut: the fields keep their current values.
void Parser::fill_unfinished(Packet& packet, PacketType type) {
  packet.type = type;
  packet.error_type = PacketType::kIncompleteEot;
  packet.cycle_count = 0;
  packet.has_cycle_count = packet.lsip = packet.no_address = packet.frequency_change = false;
  packet.reason = state_.reason;
  packet.isa = packet.previous_isa = state_.isa;
  packet.address = state_.address;
  packet.address.update_bits = 0;
  packet.timestamp = state_.timestamp;
  packet.timestamp_bits = 0;
  packet.context = state_.context;
  packet.context.updated_context_id = false;
  packet.exception = {};
  packet.transfer = {};
  if (type == PacketType::kOooAddress) packet.transfer.tag = bits<3, 2>(packet.header);
}

bool Parser::finish(Packet& packet) {
  if (carry_.empty()) return false;
  if (!synced_) {
    give_unsynced(packet, PacketType::kNotSync, carry_.size(), true);
    zeros_ = false;
    return true;
  }
  const PacketType type = kHeaders[carry_[0]].type;
  given_ = carry_;
  raw_ = given_.data();
  raw_size_ = given_.size();
  packet.index = carry_index_;
  packet.begin(PacketType::kIncompleteEot, given_.size());
  packet.header = carry_[0];
  if (quirks_.unfinished_is_whole) {
    fill_unfinished(packet, type);
  } else {
    packet.error_type = type;
  }
  carry_.clear();
  carried_ = false;
  return true;
}

}  // namespace waymark::etmv3
