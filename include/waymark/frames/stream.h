// A block of one source's bytes with the capture offsets of its parts: the input of every packet
// parser.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::frames {

inline constexpr std::size_t kPlainFrameBytes = 15;  ///< Data bytes of a frame without ID bytes.

/// The bytes from `position` in a block on come from the capture offset `index` onwards.  With
/// `whole_frames` they come from consecutive frames without ID bytes: 15 bytes each, and the
/// indexes of their first bytes are 16 apart.
struct Run {
  std::size_t position = 0;
  TraceIndex index = 0;
  bool whole_frames = false;

  /// The index of the byte at `at` in the block, which must be in this run.
  [[nodiscard]] TraceIndex index_at(std::size_t at) const {
    const std::size_t offset = at - position;
    return index + offset + (whole_frames ? offset / kPlainFrameBytes : 0);
  }
};

/// Contiguous bytes of one trace ID.  `runs` is in order of position, the first at position 0, and
/// is empty only for an empty block.  Both are views: the maker of the block owns the memory.
struct StreamBlock {
  Bytes bytes;
  std::span<const Run> runs;
  /// For quirks: the bytes again, and what the reference has in memory after them.  Empty: not
  /// known.
  Bytes memory = {};
};

/// Run::index_at for hot loops: without a branch on the kind of run.  Offsets in a run of whole
/// frames must be below 2^32.
class Indexer {
 public:
  explicit Indexer(const Run& run)
      : delta_(run.index - run.position),
        position_(run.position),
        fifteenth_(run.whole_frames ? 0x88888889U : 0),
        endless_(run.whole_frames ? 0 : ~std::size_t{0}) {}
  TraceIndex operator()(std::size_t at) const { return delta_ + at + frame(at); }
  /// At most the number of bytes from `at` on whose indexes follow each other, and at least one.
  [[nodiscard]] std::size_t followed_by(std::size_t at) const {
    return (kPlainFrameBytes - (at - position_ - frame(at) * kPlainFrameBytes)) | endless_;
  }

 private:
  static_assert(kPlainFrameBytes == 15);
  [[nodiscard]] std::uint64_t frame(std::size_t at) const {
    return static_cast<std::uint32_t>(at - position_) * fifteenth_ >> 35;
  }

  TraceIndex delta_;
  std::size_t position_;
  std::uint64_t fifteenth_;  // n * 0x88888889 >> 35 is n / 15 for every n below 2^32.
  std::size_t endless_;
};

/// Calls `visit(position, index, size)` for each segment of the block: each run, and each frame of
/// the runs of whole frames.
template <class Visit>
void for_each_segment(const StreamBlock& block, Visit&& visit) {
  for (std::size_t i = 0; i < block.runs.size(); ++i) {
    const Run& run = block.runs[i];
    const std::size_t end =
        i + 1 < block.runs.size() ? block.runs[i + 1].position : block.bytes.size();
    const std::size_t step = run.whole_frames ? kPlainFrameBytes : end - run.position;
    for (std::size_t at = run.position; at < end; at += step)
      visit(at, run.index_at(at), std::min(step, end - at));
  }
}

/// A vector that does not initialise the elements that it grows by, and lets a loop write past its
/// end within the reserved capacity.
template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// The place after the last element, with space for `count` more.
  T* room(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
    return data_.get() + size_;
  }
  /// Adds `count` elements that were written to room().
  void advance(std::size_t count) { size_ += count; }
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const T> view() const { return {data_.get(), size_}; }

 private:
  /// Holds what one of several sources has in a block of the usual size.  Unused memory is never
  /// touched, so it costs nothing.
  static constexpr std::size_t kFirstBytes = std::size_t{64} << 10;

  void grow(std::size_t count) {
    const std::size_t wanted = std::max({size_ + count, capacity_ * 2, kFirstBytes / sizeof(T)});
    auto data = std::make_unique_for_overwrite<T[]>(wanted);
    if (size_ != 0) std::memcpy(data.get(), data_.get(), size_ * sizeof(T));
    data_ = std::move(data);
    capacity_ = wanted;
  }

  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A block that owns its memory; the demultiplexer appends to it.  Movable.  Not thread safe.
class StreamBuffer {
 public:
  /// Appends one run; nothing for empty `bytes`.
  void append(TraceIndex index, Bytes bytes) {
    if (bytes.empty()) return;
    std::memcpy(bytes_.room(bytes.size()), bytes.data(), bytes.size());
    finish_run(index, bytes.size());
  }

  /// Forgets the contents and keeps the memory.
  void clear() {
    bytes_.clear();
    runs_.clear();
  }
  [[nodiscard]] bool empty() const { return bytes_.size() == 0; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// Valid until the next append() or clear().
  [[nodiscard]] StreamBlock block() const { return {bytes_.view(), runs_.view()}; }

 private:
  friend class Demux;
  friend class StreamSplitter;

  /// The place after the bytes, with space for `count` more.
  std::uint8_t* room(std::size_t count) { return bytes_.room(count); }

  /// Adds `size` bytes that were written to room() as a run.
  void finish_run(TraceIndex index, std::size_t size, bool whole_frames = false) {
    *runs_.room(1) = {bytes_.size(), index, whole_frames};
    runs_.advance(1);
    bytes_.advance(size);
  }

  GrowingArray<std::uint8_t> bytes_;
  GrowingArray<Run> runs_;
};

}  // namespace waymark::frames
