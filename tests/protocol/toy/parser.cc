#include "parser.h"

#include "header_table.h"

namespace waymark::toy {

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  leave_block();
  position_ = 0;
  synced_ = false;
  carry_.clear();
}

std::size_t Parser::withdraw() {
  statistics_.total_bytes -= size_ - position_;
  size_ = position_;
  return position_;
}

/// The length of the packet at the front; 0: more bytes are needed.
std::size_t Parser::read(Bytes bytes, Packet& packet) const {
  const std::uint8_t header = bytes[0];
  packet.type = kHeaderTypes[header];
  packet.value = 0;
  packet.number = 0;
  packet.length = 1;
  if (!synced_ && packet.type != PacketType::kSync) packet.type = PacketType::kNotSync;
  if (packet.type == PacketType::kEvent) packet.number = header & 0x0F;
  if (packet.type == PacketType::kValue) packet.number = header & 0x1F;
  if (packet.type != PacketType::kTime && packet.type != PacketType::kValue) return 1;

  // Two bytes with 7 bits each, least significant first.
  for (; packet.length != kMaxPacketBytes; ++packet.length) {
    if (packet.length == bytes.size()) return 0;
    const std::uint8_t byte = bytes[packet.length];
    if ((byte & 0x80) != 0) {
      packet.type = PacketType::kBadSequence;
      return packet.length;
    }
    packet.value |= static_cast<std::uint32_t>(byte) << (7 * (packet.length - 1));
  }
  return packet.length;
}

bool Parser::next(Packet& packet) {
  if (!carry_.empty()) return next_carried(packet);
  if (position_ == size_) return false;
  packet.index = index_at(position_);
  const Bytes rest(data_ + position_, size_ - position_);
  const std::size_t length = read(rest, packet);
  if (length == 0) {
    carry_.assign(rest.begin(), rest.end());
    carry_index_ = packet.index;
    position_ = size_;
    return false;
  }
  position_ += length;
  give(rest.first(length), packet);
  return true;
}

bool Parser::next_carried(Packet& packet) {
  const Completed whole = complete(carry_, position_, [&] { return read(carry_, packet); });
  if (!whole) return false;
  position_ += whole.length - whole.before;
  packet.index = carry_index_;
  carry_.resize(whole.length);
  given_.swap(carry_);
  carry_.clear();
  give(given_, packet);
  return true;
}

void Parser::give(Bytes bytes, const Packet& packet) {
  raw_ = bytes;
  if (packet.type == PacketType::kSync) synced_ = true;
  if (packet.type == PacketType::kNotSync) statistics_.unsynced_bytes += bytes.size();
  if (packet.type == PacketType::kReserved) ++statistics_.bad_headers;
  if (packet.type == PacketType::kBadSequence) ++statistics_.bad_sequences;
}

bool Parser::finish(Packet& packet) {
  if (carry_.empty()) return false;
  given_.swap(carry_);
  carry_.clear();
  packet = {.index = carry_index_,
            .length = static_cast<std::uint8_t>(given_.size()),
            .type = PacketType::kIncompleteEot};
  give(given_, packet);
  return true;
}

}  // namespace waymark::toy
