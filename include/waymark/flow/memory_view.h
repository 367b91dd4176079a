// The memory that decoded code is read from, which depends on the memory space and the process.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "waymark/base/types.h"
#include "waymark/image/image.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// Numbers the memories that a source has seen, so that a cache keeps what it read from each of
/// them.  One owner; not thread safe.
class MemoryView {
 public:
  /// `image` must outlive the object.
  MemoryView(const image::Image& image, TraceId trace_id) : image_(&image), trace_id_(trace_id) {
    forget();
  }
  /// A copy is in the same memory space and has numbers of its own.
  MemoryView(const MemoryView& other) : MemoryView(*other.image_, other.trace_id_) {
    space_ = other.space_;
  }
  MemoryView& operator=(const MemoryView&) = delete;

  /// Forgets all numbers: what was read under them must not be used again.
  void forget();

  /// False once the image has changed; then forget() before going on.
  [[nodiscard]] bool current() const { return version_ == image_->version(); }

  /// Selects the memory of what executes in `context` at a place of the trace.  False: the numbers
  /// were forgotten, because the image has changed.
  [[nodiscard]] bool select(image::SpaceMask space, ExecutionContext context, TraceIndex index);

  /// Whether what is selected holds at a place of the trace too.  Without a selector, it does
  /// everywhere.
  [[nodiscard]] bool covers(TraceIndex index) const { return index >= begin_ && index < end_; }
  /// The first place at which it is known to hold.
  [[nodiscard]] TraceIndex begin() const { return begin_; }

  /// As Image::read().
  [[nodiscard]] Bytes read(std::uint64_t address, std::span<std::uint8_t> scratch) const {
    return selected_->read(address, space_, trace_id_, scratch);
  }

  /// Four bytes for the instruction at `address`, of which a read gave only `first`, fewer than
  /// four: with what the regions after it have, and zeros after a T32 instruction of two bytes at
  /// the end of the memory.  False: the memory ends before the instruction does.
  [[nodiscard]] bool complete(std::uint64_t address, isa::Isa isa, Bytes first,
                              std::span<std::uint8_t, 4> word) const;

  /// The number of the selected memory.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] image::SpaceMask space() const { return space_; }
  /// Data that callbacks supply can depend on the context: it may change at any time.
  [[nodiscard]] bool reads_callbacks() const { return callbacks_; }

 private:
  const image::Image* image_;
  const image::Image* selected_ = nullptr;  ///< image_, or the one that its selector chose.
  TraceId trace_id_;
  // Where selected_ shows the memory of this process.
  TraceIndex begin_ = 0;
  TraceIndex end_ = kNoIndex;
  ExecutionContext context_;
  bool callbacks_ = false;
  image::SpaceMask space_ = image::kSpaceAny;
  std::uint32_t number_ = 0;
  std::uint32_t next_ = 0;
  std::uint64_t version_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

}  // namespace waymark::flow
