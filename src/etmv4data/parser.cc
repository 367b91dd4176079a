#include "waymark/etmv4data/parser.h"

#include <algorithm>

#include "header_table.h"
#include "waymark/base/bits.h"

namespace waymark::etmv4data {
namespace {

constexpr std::size_t kAsyncZeros = 11;
constexpr std::size_t kMaxTimestampBytes = 9;

}  // namespace

Parser::Parser(const Config& config) : config_(config) { held_.reserve(kMaxPacketBytes); }

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  state_ = State::kSearch;
  held_.clear();
  zeros_ = 0;
  continues_ = false;
  first_given_ = false;
  timestamp_ = 0;
  leave_block();
  position_ = 0;
}

bool Parser::next(Packet& packet) {
  while (true) {
    if (state_ == State::kPacket && !held_.empty() && read_packet(packet)) return true;
    if (position_ >= size_) return false;
    if (take_byte(packet)) return true;
  }
}

// True: unsynchronised or unknown bytes must be given first.
bool Parser::take_byte(Packet& packet) {
  const TraceIndex index = index_at(position_);
  const std::uint8_t byte = data_[position_++];
  if (held_.empty()) held_index_ = index;
  newest_ = (newest_ + 1) % kAsyncSize;
  indexes_[newest_] = index;
  held_.push_back(byte);
  const bool aligned = byte == 0x80 && zeros_ >= kAsyncZeros;
  zeros_ = byte == 0 ? zeros_ + 1 : 0;
  if (state_ == State::kPacket) return false;
  if (aligned) {
    const bool passes = held_.size() > kAsyncSize;
    if (passes) give_passed(packet, held_.size() - kAsyncSize);
    state_ = State::kPacket;
    continues_ = false;
    return passes;
  }
  if (held_.size() < kMaxPacketBytes) return false;
  give_passed(packet, kMaxPacketBytes - kAsyncSize);
  return true;
}

bool Parser::read_packet(Packet& packet) {
  const std::uint8_t header = held_[0];
  if (header == 0) return read_extension(packet);
  const PacketType type = kTypeOfHeader[header];
  switch (type) {
    case PacketType::kUnnumberedMarker:
    case PacketType::kSuppression:
      give(packet, type, 1);
      return true;
    case PacketType::kTimestamp:
      return read_timestamp(packet);
    case PacketType::kReserved:
      ++statistics_.bad_headers;
      begun_ = type;
      state_ = State::kUnknown;
      return false;
    default:
      begun_ = type;
      return read_data(packet, 1);
  }
}

bool Parser::read_extension(Packet& packet) {
  if (held_.size() < 2) return false;
  const PacketType type = type_of_extension(held_[1]);
  begun_ = type;
  switch (type) {
    case PacketType::kAsync: {
      const bool good = held_.back() == (held_.size() == kAsyncSize ? 0x80 : 0x00);
      if (good && held_.size() < kAsyncSize) return false;
      if (good) {
        give(packet, type, kAsyncSize);
        return true;
      }
      ++statistics_.bad_sequences;
      state_ = State::kUnknown;
      return false;
    }
    case PacketType::kDiscard:
    case PacketType::kOverflow:
      give(packet, type, 2);
      return true;
    case PacketType::kNumberedMarker: {
      const auto marker = bits<3, 1>(held_[1]);
      give(packet, type, 2);
      packet.marker = marker;
      return true;
    }
    case PacketType::kTraceInfo:
      return read_data(packet, 2);
    default:
      ++statistics_.bad_headers;
      state_ = State::kUnknown;
      return false;
  }
}

// As in the instruction stream: seven bits per byte, except for the ninth, which has eight.
bool Parser::read_timestamp(Packet& packet) {
  const std::size_t payload = held_.size() - 1;
  if (payload == 0) return false;
  if (bit<7>(held_.back()) && payload < kMaxTimestampBytes) return false;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < payload; ++i) {
    const std::uint8_t byte = held_[i + 1];
    value |= std::uint64_t{i + 1 < kMaxTimestampBytes ? byte & 0x7FU : byte} << (7 * i);
  }
  const unsigned width = payload == kMaxTimestampBytes ? 64 : 7 * static_cast<unsigned>(payload);
  timestamp_ = (timestamp_ & ~low_mask(width)) | value;
  give(packet, PacketType::kTimestamp, held_.size());
  packet.timestamp = timestamp_;
  packet.timestamp_bits = static_cast<std::uint8_t>(width);
  return true;
}

// Uses the user's layout; without one the packet is not read.
bool Parser::read_data(Packet& packet, std::size_t header_size) {
  const auto layout = config_.layouts.find(begun_);
  if (!layout) {
    state_ = State::kUnknown;
    return false;
  }
  const std::size_t needed = header_size + layout->fixed;
  if (held_.size() < needed) return false;
  if (layout->continued != 0) {
    const std::size_t more = held_.size() - needed;
    if (more == 0 || (more < layout->continued && bit<7>(held_.back()))) return false;
  }
  give(packet, begun_, held_.size());
  return true;
}

void Parser::give(Packet& packet, PacketType type, std::size_t size) {
  packet.begin(type, size);
  packet.index = held_index_;
  given_.assign(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(size));
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(size));
  zeros_ = std::min(zeros_, held_.size());
  if (!held_.empty()) held_index_ = index_of(held_.size() - 1);
}

void Parser::give_passed(Packet& packet, std::size_t size) {
  if (state_ == State::kSearch) {
    give(packet, PacketType::kNotSync, size);
    packet.monitor_only = first_given_;
    first_given_ = true;
    statistics_.unsynced_bytes += size;
    return;
  }
  const bool reserved = begun_ == PacketType::kReserved;
  const bool sequence = begun_ == PacketType::kAsync;
  PacketType type = PacketType::kUnknown;
  if (!continues_ && reserved) type = PacketType::kReserved;
  if (!continues_ && sequence) type = PacketType::kBadSequence;
  give(packet, type, size);
  if (!reserved) packet.error_type = begun_;
  packet.continues = continues_;
  continues_ = true;
}

bool Parser::finish(Packet& packet) {
  if (held_.empty()) return false;
  if (state_ != State::kPacket) {
    give_passed(packet, held_.size());
    return true;
  }
  PacketType type = kTypeOfHeader[held_[0]];
  if (held_[0] == 0) type = held_.size() < 2 ? PacketType::kAsync : type_of_extension(held_[1]);
  give(packet, PacketType::kIncompleteEot, held_.size());
  packet.error_type = type;
  return true;
}

}  // namespace waymark::etmv4data
