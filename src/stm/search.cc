// The unsynchronised parser: the position of the next ASYNC.  See stm-itm.md 5.1.
#include <algorithm>

#include "waymark/stm/parser.h"

namespace waymark::stm {

// -- Native: NOTSYNC packets of a fixed size, then an ASYNC with its own 22 nibbles. --------------

bool Parser::next_unsynced(Packet& packet) {
  while (!search_.async_due) {
    if (at_ >= 2 * size_) return false;
    if (search_.size == search_.held.size()) {
      give_held(packet, PacketType::kNotSync, 2 * kUnsyncedChunk - (search_.upper ? 1 : 0));
      return true;
    }
    search_byte();
  }
  give_found_async(packet);
  return true;
}

/// Holds the byte at the current position, or its upper nibble; ends early after an ASYNC.
void Parser::search_byte() {
  const std::size_t byte = at_ / 2;
  unsigned phase = at_ & 1;
  if (search_.size == 0) search_.upper = phase != 0;
  search_.indexes[search_.size] = index_at(2 * byte);
  search_.held[search_.size++] = data_[byte];
  for (; phase < 2; ++phase) {
    ++at_;
    const unsigned nibble = data_[byte] >> 4 * phase & 0xFU;
    if (nibble == 0xF) {
      ++search_.fs;
      continue;
    }
    if (nibble == 0 && search_.fs >= kAsyncFs) {
      search_.async_due = true;
      search_.due = 2 * search_.size - (search_.upper ? 1 : 0) - (1 - phase);
      return;
    }
    search_.fs = 0;
  }
}

void Parser::give_found_async(Packet& packet) {
  if (search_.due > kAsyncNibbles) {
    const std::size_t before = search_.due - kAsyncNibbles;
    search_.due = kAsyncNibbles;
    give_held(packet, PacketType::kNotSync, before);
    return;
  }
  const bool in_packet = search_.due < kAsyncNibbles;
  give_held(packet, PacketType::kAsync, search_.due);
  if (in_packet) packet.defect = Defect::kAsyncInPacket;
  search_.size = 0;
  search_.async_due = false;
  search_.fs = 0;
  synced_ = true;
  // Nothing before the ASYNC can belong to the next one.
  history_.size = 0;
}

/// The oldest held nibbles become a packet; those after them stay.
void Parser::give_held(Packet& packet, PacketType type, std::size_t nibbles) {
  const std::size_t start = search_.upper ? 1 : 0;
  begin(packet, type, static_cast<unsigned>(nibbles));
  packet.upper = search_.upper;
  packet.index = search_.indexes[0] + (quirks_.index_of_next_byte ? start : 0);
  const auto end = static_cast<std::ptrdiff_t>(packet.length());
  given_.assign(search_.held.begin(), search_.held.begin() + end);
  raw_ = given_.data();
  raw_size_ = given_.size();
  raw_upper_ = search_.upper;
  last_type_ = type;
  if (type == PacketType::kNotSync) statistics_.unsynced_bytes += raw_size_;

  const std::size_t drop = (start + nibbles) / 2;
  std::copy(search_.held.begin() + static_cast<std::ptrdiff_t>(drop),
            search_.held.begin() + static_cast<std::ptrdiff_t>(search_.size), search_.held.begin());
  std::copy(search_.indexes.begin() + static_cast<std::ptrdiff_t>(drop),
            search_.indexes.begin() + static_cast<std::ptrdiff_t>(search_.size),
            search_.indexes.begin());
  search_.size -= drop;
  search_.upper = ((start + nibbles) & 1) != 0;
}

// -- As in the reference: Quirks::unsynced_by_block. ----------------------------------------------

std::size_t Parser::segment_end(std::size_t position) const {
  const frames::Run& run = runs_[run_];
  const std::size_t end = std::min(run_end_, size_);
  if (!run.whole_frames) return end;
  const std::size_t frame = (position - run.position) / frames::kPlainFrameBytes;
  return std::min(end, run.position + (frame + 1) * frames::kPlainFrameBytes);
}

bool Parser::next_unsynced_segment(Packet& packet) {
  // An ASYNC that ends a block after other bytes waits for the next block.
  if (at_ >= 2 * size_) return false;
  if (search_.async_due) {
    give_async_of_segment(packet);
    return true;
  }
  const std::size_t begin = at_;
  packet.index = index_at(begin);
  const std::size_t end = 2 * segment_end(begin / 2);
  while (at_ < end && !search_.async_due) {
    const unsigned nibble = data_[at_ / 2] >> 4 * (at_ & 1) & 0xFU;
    if (nibble == 0xF) {
      if (block_fs_ == 0) run_of_fs_index_ = BlockReader::index_at(at_ / 2);
      if (block_fs_ < kAsyncFs) ++block_fs_;
    } else {
      search_.async_due = nibble == 0 && block_fs_ == kAsyncFs;
      block_fs_ = 0;
    }
    ++at_;
  }
  std::size_t shown_end = at_;
  if (search_.async_due) {
    // It may have begun in a segment that was shown.
    shown_end = at_ - begin > kAsyncNibbles ? at_ - kAsyncNibbles : begin;
    async_.assign(data_ + shown_end / 2, data_ + (at_ + 1) / 2);
    if (shown_end == begin) {
      give_async_of_segment(packet);
      return true;
    }
  }
  give_block(packet, begin / 2, (shown_end + 1) / 2 - begin / 2);
  return true;
}

void Parser::give_async_of_segment(Packet& packet) {
  given_.swap(async_);
  async_.clear();
  give_due_async(packet);
}

/// The ASYNC that is due, with the bytes in given_.
void Parser::give_due_async(Packet& packet) {
  begin(packet, PacketType::kAsync, kAsyncNibbles);
  packet.index = run_of_fs_index_;
  packet.upper = false;
  raw_ = given_.data();
  raw_size_ = given_.size();
  raw_upper_ = false;
  last_type_ = PacketType::kAsync;
  search_.async_due = false;
  synced_ = true;
}

bool Parser::next_unsynced_block(Packet& packet) {
  // An ASYNC that ends a block after other bytes waits for the next block.
  if (at_ >= 2 * size_) return false;
  if (search_.async_due) {
    give_made_up_async(packet);
    return true;
  }
  const std::size_t first = at_ / 2;
  packet.index = index_at(at_);
  const std::size_t end = 2 * segment_end(first);
  std::uint8_t read = block_fs_;
  while (at_ < end && !search_.async_due) {
    const unsigned nibble = data_[at_ / 2] >> 4 * (at_ & 1) & 0xFU;
    ++at_;
    ++read;
    if (nibble == 0xF) {
      // The reference divides a signed number: after a wrap it is -1, and its half 0.
      if (block_fs_ == 0) run_of_fs_index_ = packet.index + (read == 0 ? 0U : (read - 1U) / 2);
      ++block_fs_;
    } else if (nibble == 0 && block_fs_ >= kAsyncFs) {
      search_.async_due = true;
    } else {
      block_fs_ = 0;
    }
  }
  const unsigned kept = search_.async_due ? kAsyncNibbles : block_fs_;
  if (search_.async_due && read > kept && (at_ & 1) != 0) made_up_prefix_ = data_[at_ / 2] & 0xF0;
  if (search_.async_due && read <= kept) {
    give_made_up_async(packet);
    return true;
  }
  give_block(packet, first, read > kept ? (read - kept + 1) / 2 : 0);
  return true;
}

/// Gives `shown` bytes from the start of a segment, if necessary beyond its end.
void Parser::give_block(Packet& packet, std::size_t first, std::size_t shown) {
  given_.resize(shown);
  for (std::size_t i = 0; i < shown; ++i) given_[i] = byte_beyond(first + i);
  begin(packet, PacketType::kNotSync, static_cast<unsigned>(2 * shown));
  packet.upper = false;
  raw_ = given_.data();
  raw_size_ = shown;
  raw_upper_ = false;
  last_type_ = PacketType::kNotSync;
  statistics_.unsynced_bytes += shown;
}

void Parser::give_made_up_async(Packet& packet) {
  given_.clear();
  if (made_up_prefix_) given_.push_back(*made_up_prefix_);
  made_up_prefix_.reset();
  given_.insert(given_.end(), 10, 0xFF);
  given_.push_back(0x0F);
  give_due_async(packet);
  block_fs_ = 0;
}

}  // namespace waymark::stm
