// The frame formatter: takes (ID, bytes) writes and gives CoreSight frames.  Used by the assembler
// of trace scripts, synthetic captures and round-trip tests.  See frames.md 1 and 2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/frames/demux.h"

namespace waymark::frames {

struct MuxOptions {
  unsigned fsync_period = 0;       ///< An FSYNC before every n-th frame, the first too; 0: none.
  unsigned hsync_period = 0;       ///< An HSYNC before every n-th pair of bytes; 0: none.
  bool delayed_id_changes = true;  ///< If not, an ID byte that repeats the ID fills the odd place.
  unsigned id_repeat = 8;          ///< The most consecutive frames without an ID byte; 0: no limit.

  /// The options for reading the output.  `reset_on_4x_fsync` is for Mux::append_reset().
  [[nodiscard]] Options demux_options(bool reset_on_4x_fsync = false) const {
    const bool aligned = fsync_period == 0 && hsync_period == 0;
    return {.has_fsyncs = fsync_period != 0,
            .has_hsyncs = hsync_period != 0,
            .memory_aligned = aligned,
            .reset_on_4x_fsync = aligned && reset_on_4x_fsync};
  }
};

/// Demultiplexing the output gives the bytes that were written for each ID.  Not thread safe.
class Mux {
 public:
  explicit Mux(const MuxOptions& options = {}) : options_(options) {}

  /// Appends bytes of one source, or padding and markers with the reserved IDs.  kNoTraceId is
  /// allowed only before the first ID: bytes that a reader cannot attribute, as in a buffer that
  /// has wrapped.  kInvalidArgument, with nothing written: an ID above 0x7E (0x7F would look like a
  /// sync), or kNoTraceId later on.
  Result<void> write(TraceId id, Bytes bytes);

  /// Fills the unfinished frame with ID 0 and zeros.
  void finish();

  /// finish(), then the four FSYNCs that reset a memory-aligned reader.
  void append_reset();

  /// Bytes wait for their frame to be filled.
  [[nodiscard]] bool pending() const { return at_ != 0; }

  /// All finished frames so far.
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return out_; }

  /// Returns the finished frames and starts again with the next one.
  std::vector<std::uint8_t> take();

 private:
  void change_id(TraceId id);
  void put_id(TraceId id, bool delayed);
  void put_data(std::uint8_t byte);
  void end_frame();
  void emit_frame();

  MuxOptions options_;
  std::vector<std::uint8_t> out_;
  std::array<std::uint8_t, kFrameSize> frame_{};
  unsigned at_ = 0;      // Next byte of frame_, 0..14.
  bool has_id_ = false;  // frame_ holds an ID byte.
  unsigned plain_ = 0;   // Finished frames since the last one with an ID byte.
  std::uint64_t frames_ = 0;
  unsigned pairs_ = 0;       // Pairs since the last HSYNC.
  TraceId id_ = kNoTraceId;  // The ID that a reader assumes.
};

}  // namespace waymark::frames
