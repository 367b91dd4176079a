#include "waymark/itm/parser.h"

#include <array>

#include "header_table.h"

namespace waymark::itm {
namespace {

constexpr std::size_t kIncomplete = 0;
// Unsynchronised bytes are given in chunks of at least this many.
constexpr std::size_t kChunkSize = 8;

constexpr std::array<std::uint8_t, 5> kExtensionTopBits = {2, 9, 16, 23, 31};

}  // namespace

Parser::Parser(const Config& config) : config_(config), synced_(config.starts_in_sync) {
  carry_.reserve(64);
}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  synced_ = config_.starts_in_sync;
  candidate_ = false;
  first_given_ = false;
  carry_.clear();
  carried_ = false;
  leave_block();
  position_ = 0;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return next_unsynced(packet);
  if (carried_) [[unlikely]]
    return next_carried(packet);
  if (position_ >= size_) return false;
  packet.index = index_at(position_);
  return read_at(position_, packet);
}

std::size_t Parser::next(std::span<Packet> out) {
  struct Store {
    static consteval protocol::VisitorTakes takes() { return {.own_packet = true}; }
    Packet* at;
    Packet* end;
    Packet& place() const { return *at; }
    bool on_packet(const Packet& packet) {
      if (&packet != at) *at = packet;
      return ++at != end;
    }
  };
  if (out.empty()) return 0;
  Store store{out.data(), out.data() + out.size()};
  parse(store);
  return static_cast<std::size_t>(store.at - out.data());
}

bool Parser::read_at(std::size_t position, Packet& packet) {
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
  settle(raw_, packet);
  return true;
}

bool Parser::next_carried(Packet& packet) {
  packet.index = carry_index_;
  const Completed whole =
      complete(carry_, position_, [&] { return read(carry_.data(), carry_.size(), packet); });
  if (!whole) return false;
  position_ += whole.length - whole.before;
  given_.assign(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(whole.length));
  raw_ = given_.data();
  raw_size_ = whole.length;
  carry_.clear();
  carried_ = false;
  settle(raw_, packet);
  return true;
}

// The state after a whole packet.
void Parser::settle(const std::uint8_t* bytes, Packet& packet) {
  if (is_bad(packet.type)) [[unlikely]] {
    ++(packet.type == PacketType::kReserved ? statistics_.bad_headers : statistics_.bad_sequences);
    if (!config_.quirks.goes_on_after_bad_packet && !config_.starts_in_sync) {
      synced_ = false;
      candidate_ = false;
      // Its unsynchronised bytes are not the first ones.
      first_given_ = true;
    }
  }
  if (config_.quirks.timestamp_flags_cleared && packet.type == PacketType::kGlobalTimestamp1 &&
      packet.size == 4 && packet.source != 0) {
    std::vector<std::uint8_t> changed(bytes, bytes + packet.length);
    changed.back() &= 0x1F;
    given_ = std::move(changed);
    raw_ = given_.data();
  }
}

void Parser::give(Packet& packet, PacketType type, std::size_t size) {
  given_.assign(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(size));
  packet.begin(type, size);
  packet.index = carry_index_;
  raw_ = given_.data();
  raw_size_ = size;
}

void Parser::give_unsynced(Packet& packet, std::size_t size) {
  give(packet, PacketType::kNotSync, size);
  carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(size));
  packet.monitor_only = first_given_;
  first_given_ = true;
  statistics_.unsynced_bytes += size;
}

// See stm-itm.md 12.1.
bool Parser::next_unsynced(Packet& packet) {
  while (position_ < size_) {
    const TraceIndex index = index_at(position_);
    const std::uint8_t byte = data_[position_];
    const bool by_block = config_.quirks.search_by_block;
    if (by_block && position_ == 0 && !candidate_) carry_index_ = index;
    if (candidate_) {
      ++position_;
      carry_.push_back(byte);
      if (byte == 0) {
        if (carry_.size() < kMaxPacketBytes) continue;
        give_unsynced(packet, carry_.size() - kAsyncZeros);
        carry_index_ = index - (kAsyncZeros - 1);
        return true;
      }
      candidate_ = false;
      if (byte != 0x80 || carry_.size() <= kAsyncZeros) continue;
      give(packet, PacketType::kAsync, carry_.size());
      carry_.clear();
      synced_ = true;
      return true;
    }
    if (byte == 0) {
      if (!carry_.empty() || (config_.quirks.empty_unsynchronised && !first_given_)) {
        give_unsynced(packet, carry_.size());
        return true;
      }
      candidate_ = true;
      carry_index_ = index;
      carry_.push_back(byte);
      ++position_;
      continue;
    }
    if (carry_.empty() && !by_block) carry_index_ = index;
    carry_.push_back(byte);
    ++position_;
    if (carry_.size() >= kChunkSize) {
      const bool first = !first_given_;
      give_unsynced(packet, carry_.size());
      // The first ones are also a packet to the decoder, after which the next one begins.
      if (first && by_block) carry_index_ = index + 1;
      return true;
    }
  }
  return give_end_of_block(packet);
}

bool Parser::give_end_of_block(Packet& packet) {
  if (!config_.quirks.search_by_block || candidate_ || size_ == 0) return false;
  if (carry_.empty() && first_given_) return false;
  give_unsynced(packet, carry_.size());
  return true;
}

bool Parser::finish(Packet& packet) {
  if (!synced_) {
    if (carry_.empty() || config_.quirks.search_by_block) return false;
    candidate_ = false;
    give_unsynced(packet, carry_.size());
    return true;
  }
  if (!carried_) return false;
  give(packet, PacketType::kIncompleteEot, carry_.size());
  packet.error_type = kHeaderTypes[carry_[0]];
  carry_.clear();
  carried_ = false;
  return true;
}

std::size_t Parser::read(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::uint8_t header = *at;
  const PacketType type = kHeaderTypes[header];
  packet.begin(type, 1);
  switch (type) {
    case PacketType::kSoftware:
    case PacketType::kHardware: {
      const std::size_t payload = std::size_t{1} << ((header & 3U) - 1);
      if (available <= payload) return kIncomplete;
      for (std::size_t i = 0; i < payload; ++i) packet.value |= std::uint64_t{at[1 + i]} << (8 * i);
      packet.source = header >> 3;
      packet.size = static_cast<std::uint8_t>(payload);
      packet.length = static_cast<std::uint32_t>(1 + payload);
      return packet.length;
    }
    case PacketType::kAsync:
      return read_async(at, available, packet);
    case PacketType::kLocalTimestamp:
      if (is_reserved_timestamp(header) && !config_.quirks.reserved_local_timestamps) {
        packet.type = PacketType::kReserved;
        return 1;
      }
      if (!bit<7>(header)) {
        packet.value = header >> 4;
        return 1;
      }
      packet.source = bits<5, 4>(header);
      return read_groups(at, available, 4, packet);
    case PacketType::kGlobalTimestamp1: {
      const std::size_t length = read_groups(at, available, 4, packet);
      if (packet.type == type && packet.size == 4) {
        packet.source = static_cast<std::uint8_t>(packet.value >> 26 & 3);
        packet.value &= low_mask(26);
      }
      return length;
    }
    case PacketType::kGlobalTimestamp2:
      return read_groups(at, available, 6, packet);
    case PacketType::kExtension: {
      const std::size_t length = bit<7>(header) ? read_groups(at, available, 4, packet) : 1;
      if (length == kIncomplete || packet.type != type) return length;
      packet.value = packet.value << 3 | bits<6, 4>(header);
      packet.source = static_cast<std::uint8_t>((bit<2>(header) ? kExtensionHardware : 0) |
                                                kExtensionTopBits[packet.size]);
      return length;
    }
    default:
      return 1;
  }
}

std::size_t Parser::read_async(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::size_t limit = std::min(available, kMaxPacketBytes);
  std::size_t zeros = 1;
  while (zeros < limit && at[zeros] == 0) ++zeros;
  if (zeros == available && available < kMaxPacketBytes) return kIncomplete;
  // The first byte that is not zero belongs to the packet, unless the packet is full of zeros.
  const std::size_t length = std::min(zeros + 1, kMaxPacketBytes);
  packet.length = static_cast<std::uint32_t>(length);
  std::size_t all = zeros;
  if (!config_.quirks.goes_on_after_bad_packet)
    all += carried_ ? carry_zeros_ : zeros_before(static_cast<std::size_t>(at - data_));
  packet.in_packet = zeros < kAsyncZeros;
  if (all < kAsyncZeros || at[length - 1] != 0x80) {
    packet.in_packet = false;
    packet.error_type = packet.type;
    packet.type = PacketType::kBadSequence;
  }
  return length;
}

// Seven bits per byte, least significant first; bit 7 is set while another byte follows.
std::size_t Parser::read_groups(const std::uint8_t* at, std::size_t available, unsigned max_bytes,
                                Packet& packet) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < max_bytes; ++i) {
    if (available <= i + 1) return kIncomplete;
    const std::uint8_t byte = at[i + 1];
    value |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (bit<7>(byte)) continue;
    packet.value = value;
    packet.size = static_cast<std::uint8_t>(i + 1);
    packet.length = i + 2;
    return packet.length;
  }
  packet.error_type = packet.type;
  packet.type = PacketType::kBadSequence;
  packet.source = 0;
  packet.length = max_bytes + 1;
  return packet.length;
}

}  // namespace waymark::itm
