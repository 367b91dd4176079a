#include "waymark/etmv4/unsynced_search.h"

namespace waymark::etmv4 {
namespace {

// Bytes are given in chunks of at least this many.
constexpr std::size_t kChunkSize = 8;

}  // namespace

void UnsyncedSearch::give_due(Chunk& chunk) {
  std::size_t size = bytes_.size();
  if (due_ == Due::kAllButLast) --size;
  if (due_ == Due::kOldestZero) size = 1;
  const bool async = due_ == Due::kOldestZero && as_reference_;
  chunk.type = async ? PacketType::kAsync : PacketType::kNotSync;
  const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(size);
  chunk.bytes.assign(bytes_.begin(), end);
  bytes_.erase(bytes_.begin(), end);
  chunk.index = take_front(size);
  if (due_ != Due::kOldestZero) index_ = next_index_;
  index_fixed_ = due_ == Due::kAll;
  due_ = Due::kNothing;
}

// The index of the first of the oldest bytes, which are gone.
TraceIndex UnsyncedSearch::take_front(std::size_t size) {
  if (as_reference_ || indexes_.empty()) return index_;
  const TraceIndex index = indexes_.front();
  indexes_.erase(indexes_.begin(), indexes_.begin() + static_cast<std::ptrdiff_t>(size));
  return index;
}

bool UnsyncedSearch::take(std::uint8_t byte, TraceIndex index) {
  const bool first = bytes_.empty();
  if (first && (byte == 0 || !index_fixed_)) index_ = index;
  index_fixed_ = false;
  bytes_.push_back(byte);
  if (!as_reference_) indexes_.push_back(index);
  switch (stage_) {
    case Stage::kPlain:
      if (byte == 0) {
        stage_ = Stage::kExtension;
        if (!first) due_ = Due::kAllButLast;
        next_index_ = index;
      } else if (bytes_.size() >= kChunkSize) {
        due_ = Due::kAll;
        next_index_ = index + 1;
      }
      return false;
    case Stage::kExtension:
      stage_ = byte == 0 ? Stage::kAsync : Stage::kPlain;
      return false;
    case Stage::kAsync:
      break;
  }
  const bool whole = bytes_.size() == kAsyncSize;
  if (byte == 0) {
    if (whole) due_ = Due::kOldestZero;
    return false;
  }
  stage_ = Stage::kPlain;
  return whole;
}

void UnsyncedSearch::give_all(Chunk& chunk) {
  chunk.index = take_front(bytes_.size());
  chunk.bytes = bytes_;
  bytes_.clear();
  due_ = Due::kNothing;
  stage_ = Stage::kPlain;
}

void UnsyncedSearch::end() {
  again_ = false;
  if (!jumped_) return;
  chunk_given_ = chunk_given_before_;
  jumped_ = chunk_given_before_ = false;
}

void UnsyncedSearch::jump() {
  const bool before = jumped_ ? chunk_given_before_ : chunk_given_;
  const bool given = chunk_given_;
  reset();
  jumped_ = true;
  chunk_given_ = given;
  chunk_given_before_ = before;
}

bool operator==(const UnsyncedSearch& a, const UnsyncedSearch& b) {
  return a.bytes_ == b.bytes_ && a.indexes_ == b.indexes_ && (a.empty() || a.index_ == b.index_) &&
         a.stage_ == b.stage_ && a.due_ == b.due_ && (!a.due() || a.next_index_ == b.next_index_) &&
         a.index_fixed_ == b.index_fixed_ && a.chunk_given_ == b.chunk_given_ &&
         a.jumped_ == b.jumped_ && a.again_ == b.again_ &&
         a.chunk_given_before_ == b.chunk_given_before_;
}

}  // namespace waymark::etmv4
