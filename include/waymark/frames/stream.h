// A block of one source's bytes with the capture offsets of its parts: what every packet parser
// reads.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::frames {

/// From `position` in a block on, bytes come from the capture offset `index` onwards.  A run is
/// also one input call in the sense of the sheets' unsynchronised-state rules: one segment of a
/// frame.
struct Run {
  std::size_t position = 0;
  TraceIndex index = 0;
};

/// Contiguous bytes of one trace ID.  `runs` is in order of position, its first at position 0, and
/// is empty only for an empty block.  Views: whoever made the block keeps the memory.
struct StreamBlock {
  Bytes bytes;
  std::span<const Run> runs;
};

/// A vector that does not initialise what it grows by and lets a loop write past its end within the
/// capacity that it asked for.
template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// The place after the last element, with room for `count` more.
  T* room(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
    return data_.get() + size_;
  }
  /// Takes `count` elements that were written to room().
  void advance(std::size_t count) { size_ += count; }
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const T> view() const { return {data_.get(), size_}; }

 private:
  void grow(std::size_t count) {
    const std::size_t wanted = std::max({size_ + count, capacity_ * 2, std::size_t{1024}});
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
  friend class StreamSplitter;

  void finish_run(TraceIndex index, std::size_t size) {
    *runs_.room(1) = {bytes_.size(), index};
    runs_.advance(1);
    bytes_.advance(size);
  }

  GrowingArray<std::uint8_t> bytes_;
  GrowingArray<Run> runs_;
};

}  // namespace waymark::frames
