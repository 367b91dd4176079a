// The CoreSight frame deformatter: 16-byte frames in, one byte stream per trace ID out.
// Fact sheet frames.md.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "waymark/base/diagnostic.h"
#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::frames {

inline constexpr std::size_t kFrameSize = 16;
inline constexpr std::size_t kDstreamRecordSize = 512;
inline constexpr std::size_t kDstreamPayloadSize = 504;

/// How the capture was formatted; sheet section 3.
struct Options {
  bool has_fsyncs = false;         ///< TPIU continuous mode: FF FF FF 7F between frames.
  bool has_hsyncs = false;         ///< FF 7F may appear at even offsets.
  bool memory_aligned = true;      ///< Frames only; excludes the two above.
  bool reset_on_4x_fsync = false;  ///< Only memory aligned: 4k FSYNCs in a row reset everything.
  friend bool operator==(const Options&, const Options&) = default;

  /// Blocks given to the deformatter must be a multiple of this: 16, 4 or 2 bytes.
  [[nodiscard]] constexpr std::size_t alignment() const {
    if (has_hsyncs) return 2;
    return has_fsyncs ? 4 : kFrameSize;
  }
};

/// kInvalidArgument for combinations that exclude each other.
Result<void> check(const Options& options);

/// Consecutive bytes of one ID within one frame; at most 15.  `id` is kNoTraceId before the first
/// ID byte of the stream.  Byte i of `bytes` counts as `index + i` (sheet section 1.2).
struct Segment {
  TraceIndex index = 0;
  TraceId id = kNoTraceId;
  std::uint8_t size = 0;
  std::array<std::uint8_t, kFrameSize> data{};
  [[nodiscard]] Bytes bytes() const { return {data.data(), size}; }
};
inline constexpr std::size_t kMaxSegments = 8;

/// The segments of one frame, in order.
struct Frame {
  std::array<Segment, kMaxSegments> segments;
  std::uint8_t count = 0;
};

/// Unpacks one frame.  `index` is that of its byte 0; `current_id` is carried from frame to frame.
/// Returns the number of bytes of the frame that are not trace data: the flag byte and the ID bytes.
unsigned unpack(const std::uint8_t* frame, TraceIndex index, TraceId& current_id, Frame& out);

/// Counts of every byte of completed frames; sheet section 5.
struct Statistics {
  std::uint64_t valid_id_bytes = 0;
  std::uint64_t no_id_bytes = 0;
  std::uint64_t reserved_id_bytes = 0;
  std::uint64_t unknown_id_bytes = 0;
  std::uint64_t frame_bytes = 0;
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

enum class RawKind : std::uint8_t { kPacked, kFsync, kIdData };

/// Sees the frames as they are taken apart; sheet section 6.
class RawMonitor {
 public:
  virtual ~RawMonitor() = default;
  virtual void on_raw_frame(RawKind kind, TraceIndex index, TraceId id, Bytes bytes) = 0;
};

enum class Step : std::uint8_t {
  kFrame,      ///< `frame()` holds the next frame.
  kReset,      ///< A run of 4k FSYNCs: every downstream decoder must be reset.
  kNeedInput,  ///< The block is used up.
  kError,      ///< `error()` says what; reset() before going on.
};

/// The deformatter, one frame at a time: the exact global order over all IDs.  feed() a block, then
/// step() until kNeedInput.  Not thread safe.  Input may come in pieces of any multiple of
/// Options::alignment().
class Demux {
 public:
  explicit Demux(const Options& options) : options_(options) {}

  /// Gives the next block; the one before must be used up.  `index` is the offset of its first byte
  /// and must continue the last block (the first block after a reset may start anywhere).  `block`
  /// must live until it is used up.  kInvalidArgument: size or index; nothing is consumed then.
  Result<void> feed(TraceIndex index, Bytes block);

  Step step();

  [[nodiscard]] const Frame& frame() const { return frame_; }
  [[nodiscard]] const Diagnostic& error() const { return error_; }

  /// Bytes of the present block that completed frames, syncs and skips have used.
  [[nodiscard]] std::size_t consumed() const;

  /// Back to the unsynchronised state; options and statistics stay.
  void reset();

  [[nodiscard]] Statistics& statistics() { return statistics_; }
  void set_monitor(RawMonitor* monitor, bool packed) {
    monitor_ = packed ? monitor : nullptr;
  }

 private:
  Options options_;
  Statistics statistics_;
  Frame frame_;
  Diagnostic error_;
  RawMonitor* monitor_ = nullptr;
  // The helper who writes demux.cc completes the private state.
};

}  // namespace waymark::frames
