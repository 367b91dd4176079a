// The unsynchronised search as in the reference: Quirks::chunks_end_with_blocks.  See ptm.md 7.
#include "waymark/ptm/parser.h"

namespace waymark::ptm {

// A segment is what the reference's demultiplexer passes on at once: a run, a whole frame, or the
// client's block.
bool Parser::at_segment_end() const {
  if (position_ == size_ || position_ == run_end_) return true;
  const frames::Run& run = runs_[run_];
  return run.whole_frames && (position_ - run.position) % frames::kPlainFrameBytes == 0;
}

bool Parser::next_unsynced_block(Packet& packet) {
  while (true) {
    if (search_.flushing) {
      give_chunk_of_block(packet);
      return true;
    }
    if (search_.async_due) {
      give_async_of_block(packet);
      return true;
    }
    if (position_ >= size_) return false;
    search_byte();
  }
}

void Parser::search_byte() {
  const TraceIndex index = index_at(position_);
  if (!search_.in_segment) {
    search_.in_segment = true;
    search_.carried = search_.candidates;
    search_.start = position_;
    if (!search_.open) search_.index = index;
  }
  const std::uint8_t byte = data_[position_++];
  if (byte == 0) {
    ++search_.candidates;
    search_.zeros = search_.open ? search_.zeros + 1 : 1;
    search_.open = search_.zeros < kMaxZeros;
    if (!search_.open) {
      search_.counted += kMaxZeros - kAsyncZeros;
      search_.candidates -= kMaxZeros - kAsyncZeros;
    }
  } else if (search_.open && byte == kAsyncEnd && search_.zeros >= kAsyncZeros) {
    search_.async_due = true;
  } else {
    // The rest of a closed candidate stays.
    if (search_.open) search_.counted += search_.candidates;
    if (search_.open) search_.candidates = 0;
    search_.open = false;
    ++search_.counted;
  }
  const bool ends = at_segment_end();
  if (ends) search_.in_segment = false;
  search_.flushing =
      search_.counted != 0 && (search_.counted >= kChunkSize || search_.async_due || ends);
}

/// For a monitor, zeros for those carried into the segment; then the counted bytes, which include
/// the carried ones, from the start of the segment on.
void Parser::give_chunk_of_block(Packet& packet) {
  const bool carried = monitored_ && search_.carried != 0 && !search_.carried_given;
  const std::size_t size = carried ? search_.carried : search_.counted;
  show(size);
  packet.begin(PacketType::kNotSync, size);
  packet.index = search_.index;
  packet.monitor_only = carried || chunks_.given;
  search_.index += size;
  search_.carried_given = carried;
  if (carried) return;
  for (std::size_t i = 0; i < size; ++i) shown_[i] = byte_beyond(search_.start + i);
  chunks_.given = true;
  statistics_.unsynced_bytes += size;
  search_.start += size;
  search_.counted = 0;
  search_.flushing = false;
}

void Parser::give_async_of_block(Packet& packet) {
  show(search_.candidates + 1);
  shown_.back() = kAsyncEnd;
  packet.begin(PacketType::kAsync, raw_size_);
  packet.index = search_.index;
  packet.in_packet = false;
  search_ = {};
  synced_ = true;
}

/// The last packet has `size` bytes, all 0.
void Parser::show(std::size_t size) {
  shown_.assign(size, 0);
  raw_ = shown_.data();
  raw_size_ = size;
}

}  // namespace waymark::ptm
