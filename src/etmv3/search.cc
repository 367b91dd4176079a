// Unsynchronised input: the bytes before an A-sync.  See etmv3.md 8.
#include <algorithm>

#include "waymark/etmv3/parser.h"

namespace waymark::etmv3 {
namespace {

constexpr std::size_t kChunk = 16;      ///< Unsynchronised bytes are given in chunks of this size.
constexpr std::size_t kMostZeros = 13;  ///< When this many zeros are held,
constexpr std::size_t kDropped = 8;     ///< this many cannot be part of an A-sync.

}  // namespace

// The bad packet ends at position_.
void Parser::lose_sync() {
  synced_ = carried_ = zeros_ = entered_ = false;
  carry_.clear();
  lost_zeros_ = zeros_before(position_);
  // Lost packets may have changed it, and no packet sends it whole again.
  if (!quirks_.broken_data_packets) state_.data_address = {};
}

// The position after the last byte of the current stretch that is contiguous in the capture.
std::size_t Parser::segment_end() const {
  const std::size_t end = std::min(size_, run_end_);
  const frames::Run& run = runs_[run_];
  if (!run.whole_frames) return end;
  const std::size_t into = (position_ - run.position) % frames::kPlainFrameBytes;
  return std::min(end, position_ - into + frames::kPlainFrameBytes);
}

void Parser::give_unsynced(Packet& packet, PacketType type, std::size_t size, bool zeros_dropped) {
  given_.assign(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(size));
  carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(size));
  packet.index = carry_index_;
  packet.begin(type, size);
  raw_ = given_.data();
  raw_size_ = size;
  carry_index_ += size;
  if (type == PacketType::kNotSync) {
    if (zeros_dropped && !first_given_ && quirks_.first_zeros_are_reserved)
      packet.type = PacketType::kNoErrorType;
    first_given_ = true;
    statistics_.unsynced_bytes += size;
  }
  state_.last_type = packet.type;
  entered_ = false;
}

bool Parser::next_unsynced(Packet& packet) {
  while (position_ < size_) {
    const TraceIndex index = index_at(position_);
    if (!quirks_.blocks_end_not_sync && !carry_.empty() && !zeros_ && index != next_index_) {
      // In the capture, other bytes come between.
      give_unsynced(packet, PacketType::kNotSync, carry_.size(), false);
      return true;
    }
    if (!entered_) {
      entered_ = true;
      if (!zeros_ && (carry_.empty() || quirks_.blocks_end_not_sync)) carry_index_ = index;
    }
    const std::uint8_t byte = data_[position_];
    const bool last = position_ + 1 == segment_end();
    next_index_ = index + 1;
    const std::size_t own_zeros = zeros_ ? carry_.size() : 0;
    if (byte == 0x80 && own_zeros > kAsyncZeros) {
      give_unsynced(packet, PacketType::kNotSync, own_zeros - kAsyncZeros, true);
      return true;
    }
    if (byte == 0x80 && own_zeros + lost_zeros_ >= kAsyncZeros) {
      carry_.push_back(byte);
      ++position_;
      give_unsynced(packet, PacketType::kASync, own_zeros + 1, false);
      take_async(own_zeros, packet);
      zeros_ = false;
      lost_zeros_ = 0;
      synced_ = true;
      return true;
    }
    if (zeros_) {
      carry_.push_back(byte);
      ++position_;
      if (last) entered_ = false;
      if (byte != 0) {
        lost_zeros_ = 0;
        zeros_ = false;  // The bytes stay, even if it was the last one of its block.
      } else if (carry_.size() == kMostZeros) {
        give_unsynced(packet, PacketType::kNotSync, kDropped, true);
        return true;
      }
      continue;
    }
    if (byte == 0) {
      if (!carry_.empty()) {
        give_unsynced(packet, PacketType::kNotSync, carry_.size(), false);
        return true;
      }
      zeros_ = true;
    } else {
      lost_zeros_ = 0;
    }
    carry_.push_back(byte);
    ++position_;
    if (last) entered_ = false;
    if (zeros_) continue;
    if (carry_.size() >= kChunk || (last && quirks_.blocks_end_not_sync)) {
      give_unsynced(packet, PacketType::kNotSync, carry_.size(), false);
      return true;
    }
  }
  return false;
}

}  // namespace waymark::etmv3
