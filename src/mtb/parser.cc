#include "waymark/mtb/parser.h"

#include <algorithm>

namespace waymark::mtb {
namespace {

std::uint32_t word_at(Bytes bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i != 0; --i) word = word << 8 | bytes[at + i - 1];
  return word;
}

PacketType type_of(std::uint32_t first) {
  const bool atomic = (first & 1) != 0;
  if (!atomic) return PacketType::kBranch;
  if (is_exception_return(first)) return PacketType::kExceptionReturn;
  if (is_function_return(first)) return PacketType::kFunctionReturn;
  return PacketType::kException;
}

}  // namespace

void read_record(Bytes bytes, Packet& packet) {
  const std::uint32_t first = word_at(bytes, 0);
  const std::uint32_t second = word_at(bytes, 4);
  packet.length = kRecordBytes;
  packet.ones = false;
  if (first == second && (first == 0 || first == ~0U)) {
    packet.type = PacketType::kUnused;
    packet.source = packet.destination = 0;
    packet.start = false;
    packet.ones = first != 0;
    return;
  }
  packet.type = type_of(first);
  // Bit 0 of EXC_RETURN and FNC_RETURN is part of the value.
  const bool returns =
      packet.type == PacketType::kExceptionReturn || packet.type == PacketType::kFunctionReturn;
  packet.source = returns ? first : first & ~1U;
  packet.destination = second & ~1U;
  packet.start = (second & 1) != 0;
}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  leave_block();
  position_ = 0;
  held_ = given_ = 0;
}

std::size_t Parser::withdraw() {
  statistics_.total_bytes -= size_ - position_;
  size_ = position_;
  return position_;
}

bool Parser::next(Packet& packet) {
  if (position_ == size_) return false;
  if (held_ == 0) index_ = index_at(position_);
  const std::size_t taken = std::min(kRecordBytes - held_, size_ - position_);
  std::copy_n(data_ + position_, taken, record_.begin() + static_cast<std::ptrdiff_t>(held_));
  position_ += taken;
  held_ += taken;
  given_ = 0;
  if (held_ != kRecordBytes) return false;
  held_ = 0;
  given_ = kRecordBytes;
  packet.index = index_;
  read_record(record_, packet);
  return true;
}

bool Parser::finish(Packet& packet) {
  if (held_ == 0) return false;
  packet = {};
  packet.index = index_;
  packet.type = PacketType::kIncompleteEot;
  packet.length = static_cast<std::uint8_t>(held_);
  given_ = held_;
  held_ = 0;
  return true;
}

}  // namespace waymark::mtb
