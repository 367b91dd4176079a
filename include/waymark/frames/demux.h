// The CoreSight frame deformatter: 16-byte frames in, one byte stream per trace ID out.
// See frames.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "waymark/base/diagnostic.h"
#include "waymark/base/named_quirk.h"
#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/frames/stream.h"

namespace waymark::frames {

inline constexpr std::size_t kFrameSize = 16;

/// A frame sync.
inline constexpr std::array<std::uint8_t, 4> kFsyncBytes = {0xFF, 0xFF, 0xFF, 0x7F};

/// Whether the four bytes at `at` are one.
inline bool is_fsync(const std::uint8_t* at) {
  return std::memcmp(at, kFsyncBytes.data(), kFsyncBytes.size()) == 0;
}

/// How the capture was formatted; frames.md 3.
struct Options {
  bool has_fsyncs = false;         ///< TPIU continuous mode: FF FF FF 7F between frames.
  bool has_hsyncs = false;         ///< FF 7F may appear at even offsets.
  bool memory_aligned = true;      ///< Frames only; excludes the two above.
  bool reset_on_4x_fsync = false;  ///< Only memory aligned: 4k FSYNCs in a row reset everything.
  friend bool operator==(const Options&, const Options&) = default;

  /// Blocks given to the deformatter must be a multiple of this: 16, 4 or 2 bytes.
  [[nodiscard]] constexpr std::size_t alignment() const {
    if (memory_aligned) return kFrameSize;
    if (has_hsyncs) return 2;
    return has_fsyncs ? 4 : kFrameSize;
  }
};

/// kInvalidArgument for combinations that exclude each other.
Result<void> check(const Options& options);

/// Deviations of the reference, for the compatibility layer; off by default.
struct Quirks {
  /// Half-syncs directly before a frame count in the frame's index if an input block ended between
  /// them and the frame.  The native index never depends on where blocks end.
  bool block_end_moves_index = false;
  /// An FSYNC that follows an HSYNC between two frames is an error, unless a block ended between
  /// the two.
  bool fsync_after_hsync_fails = false;
  /// Of whoever passes segments on: one without bytes, for an ID that has a decoder, ends decoding.
  /// Bytes 12 to 15 `23 00 25 40`
  bool empty_segment_fails = false;

  /// All but those whose bit is set in `except`: bit i is row i of kQuirks.
  static constexpr Quirks reference(std::uint64_t except = 0);
};

/// Their names; the order stays as it is.
inline constexpr std::array<NamedQuirk<Quirks>, 3> kQuirks{{
    {"block_end_moves_index", &Quirks::block_end_moves_index},
    {"fsync_after_hsync_fails", &Quirks::fsync_after_hsync_fails},
    {"empty_segment_fails", &Quirks::empty_segment_fails},
}};

constexpr Quirks Quirks::reference(std::uint64_t except) { return all_but(kQuirks, except); }

/// Consecutive bytes of one ID within one frame; at most 15.  `id` is kNoTraceId before the first
/// ID byte of the stream.  Byte i of `bytes` counts as `index + i` (frames.md 1.2).
struct Segment {
  TraceIndex index = 0;
  TraceId id = kNoTraceId;
  std::uint8_t size = 0;  ///< 0 only in the last segment of a frame; native users skip it.
  std::array<std::uint8_t, kFrameSize> data{};
  [[nodiscard]] Bytes bytes() const { return {data.data(), size}; }
};
inline constexpr std::size_t kMaxSegments = 8;

/// The segments of one frame, in order.
struct Frame {
  std::array<Segment, kMaxSegments> segments;
  std::uint8_t count = 0;
  [[nodiscard]] std::span<const Segment> view() const { return {segments.data(), count}; }
};

/// Unpacks the 16 bytes at `frame`.  `index` is that of its byte 0; `current_id` is carried from
/// frame to frame.  Returns the number of bytes of the frame that are not trace data: the flag byte
/// and the ID bytes.
unsigned unpack(const std::uint8_t* frame, TraceIndex index, TraceId& current_id, Frame& out);

/// Counts of every byte of completed frames; frames.md 5.  Demux counts frame_bytes only: which
/// ID has a decoder is known to the driver alone, so the driver adds the size of each segment to
/// one of the others, with count().
struct Statistics {
  std::uint64_t valid_id_bytes = 0;
  std::uint64_t no_id_bytes = 0;
  std::uint64_t reserved_id_bytes = 0;
  std::uint64_t unknown_id_bytes = 0;
  std::uint64_t frame_bytes = 0;
  friend bool operator==(const Statistics&, const Statistics&) = default;
  Statistics& operator+=(const Statistics& more) {
    valid_id_bytes += more.valid_id_bytes;
    no_id_bytes += more.no_id_bytes;
    reserved_id_bytes += more.reserved_id_bytes;
    unknown_id_bytes += more.unknown_id_bytes;
    frame_bytes += more.frame_bytes;
    return *this;
  }

  /// Counts `size` bytes of `id`; `delivered` when a decoder took them.
  void count(TraceId id, std::uint64_t size, bool delivered) {
    if (id == kNoTraceId) {
      unknown_id_bytes += size;
    } else if (delivered) {
      valid_id_bytes += size;
    } else {
      (is_reserved_id(id) ? reserved_id_bytes : no_id_bytes) += size;
    }
  }
  [[nodiscard]] std::uint64_t total() const {
    return valid_id_bytes + no_id_bytes + reserved_id_bytes + unknown_id_bytes + frame_bytes;
  }
};

enum class RawKind : std::uint8_t { kPacked, kHsync, kFsync, kIdData };

/// Sees the frames as they are taken apart; frames.md 6.  Demux sends kPacked and kFsync.
/// kIdData is for the driver to send, before it delivers the segment: only the driver knows the
/// order of the two and which IDs are filtered.
class RawMonitor {
 public:
  virtual ~RawMonitor() = default;
  virtual void on_raw_frame(RawKind kind, TraceIndex index, TraceId id, Bytes bytes) = 0;
};

enum class Step : std::uint8_t {
  kFrame,      ///< `frame()` holds the next frame.
  kReset,      ///< A run of 4k FSYNCs: every downstream decoder must be reset.
  kSkipped,    ///< Bytes were passed over to find the next frame: `error()` says how many.
  kNeedInput,  ///< The block is used up.
  kError,      ///< `error()` says what; reset() or resync() before going on.
};

/// The deformatter, one frame at a time: the exact global order over all IDs.  feed() a block, then
/// step() until kNeedInput.  Not thread safe.  Input may come in pieces of any multiple of
/// Options::alignment(): the frames are the same.  (A run of FSYNCs cut by the end of a block gives
/// one kReset per block.)
class Demux {
 public:
  /// `options` must pass check(); where they do not, memory_aligned wins.
  explicit Demux(const Options& options, const Quirks& quirks = {})
      : options_(options), quirks_(quirks) {
    reset();
  }

  /// Gives the next block; the one before must be used up or withdrawn.  `index` is the offset of
  /// its first byte and must continue the last block (the first block after a reset may start
  /// anywhere).  `block` must live until it is used up.  kInvalidArgument: size, index, a block
  /// still in use, or after an error; nothing is consumed then, and error() has the wording of
  /// frames.md 4.1: an empty message for a wrong index.
  Result<void> feed(TraceIndex index, Bytes block);

  /// After kError it returns kNeedInput until reset() or resync().
  Step step();

  [[nodiscard]] const Frame& frame() const { return frame_; }

  /// Instead of a step() for each: the next frames of the block that have no ID bytes, all of them
  /// current_id()'s, unpacked to `out` one after the other, as many as fit there.  Returns how
  /// many; `index` becomes that of the first.  0: take a step(), also where a monitor is set, and
  /// for other than memory-aligned frames.
  std::size_t take_plain_frames(std::span<std::uint8_t> out, TraceIndex& index);
  /// The same as a run that is appended to `out`, at most `most` frames.
  std::size_t take_plain_frames(StreamBuffer& out, std::size_t most);

  /// Takes back the last `count` of them, before any other call: they are part of the block again.
  void give_back_frames(std::size_t count);

  /// What kError or kSkipped, or a refused feed(), is about.  For kError the index is that of the
  /// failing pass (frames.md 4.3); for kSkipped that of the first byte lost, and `lost` counts
  /// them.
  [[nodiscard]] const Diagnostic& error() const { return error_; }

  /// Bytes of the present block that completed frames, syncs and skips have used.  Once the block
  /// is used up this is its size: an unfinished frame is kept inside.
  [[nodiscard]] std::size_t consumed() const { return failed_ ? pass_ : pos_; }

  /// Takes back what is left of the block, after a kFrame for instance, and returns consumed().
  /// The next block must start there.
  std::size_t withdraw();

  /// After kError: go on at the next FSYNC, or at the next aligned frame where there are none.  The
  /// current ID becomes unknown.  A kSkipped tells when a frame boundary is found.
  void resync();

  /// Back to the unsynchronised state; options and statistics stay.
  void reset();

  /// Starts anew in the middle of a capture: the next block may begin anywhere.  `current` is the
  /// ID that frames without ID bytes belong to, as far as that is known.
  void start(TraceId current) {
    reset();
    current_id_ = current;
  }

  /// From the same next blocks both will give the same frames and errors.  Both have used up their
  /// blocks.
  [[nodiscard]] bool same_state(const Demux& other) const;

  /// A place where another demultiplexer can go on: the first byte that belongs to no frame taken
  /// so far, and the ID that is current there.
  struct Place {
    TraceIndex index = 0;
    TraceId current_id = kNoTraceId;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// Nothing where no frame boundary is known.  Call it where a block is used up.
  [[nodiscard]] std::optional<Place> place() const;
  /// As reset(), but the next block begins at a place, with a frame or a sync.
  void go_on(TraceId current_id) {
    reset();
    synced_ = true;
    current_id_ = current_id;
  }

  /// Bytes taken in that were neither counted nor reported as skipped: an unfinished frame, or the
  /// search for a sync.  At the end of the capture these are lost.
  [[nodiscard]] std::uint64_t held() const { return started_ ? base_ + pos_ - boundary_ : 0; }

  /// The ID that the next data byte belongs to unless an ID byte comes first.
  [[nodiscard]] TraceId current_id() const { return current_id_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

  /// `monitor` may be null and must outlive its use.  It sees kFsync always, kPacked if `packed`.
  void set_monitor(RawMonitor* monitor, bool packed) {
    monitor_ = monitor;
    packed_ = packed;
  }

 private:
  friend class StreamSplitter;

  Result<void> refuse(std::string_view message, TraceIndex index, std::string detail);
  Step advance();
  Step advance_aligned();
  Step advance_pairs();
  bool starts_sync(std::size_t next) const;
  Step complete_frame();
  bool search();
  Step skipped(TraceIndex from, std::uint64_t count);
  Step end_block();
  Step fail_pass(std::string_view message);
  void end_pass();
  void show_packed();

  Options options_;
  Quirks quirks_;
  Statistics statistics_;
  Frame frame_;
  Diagnostic error_;
  RawMonitor* monitor_ = nullptr;
  bool packed_ = false;

  // The block: base_ is the index of its byte 0, pos_ the next byte, pass_ where the pass began.
  Bytes block_;
  TraceIndex base_ = 0;
  std::size_t pos_ = 0;
  std::size_t pass_ = 0;

  bool started_ = false;      // A block has come since the reset.
  bool synced_ = false;       // A frame boundary is known.
  bool failed_ = false;       // kError was returned.
  bool resyncing_ = false;    // The search follows an error.
  bool discarding_ = false;   // The frame being collected holds the damage: drop it at its end.
  bool half_ = false;         // FF FF was taken at a frame boundary; FF 7F must follow.
  bool carrying_ = false;     // carry_ is the first byte of a pair that the last block cut.
  bool after_hsync_ = false;  // An HSYNC was dropped in this pass with no frame byte held.
  std::uint8_t carry_ = 0;
  std::uint8_t matched_ = 0;       // Search: how many FFs (at most 3) the bytes so far end with.
  std::uint8_t held_sync_ = 0;     // Bytes of the first FSYNC that lie before this block.
  std::uint8_t have_ = 0;          // Frame bytes in partial_; even.
  std::size_t reset_bytes_ = 0;    // FSYNC bytes of the last kReset, not yet shown.
  std::uint64_t hsync_bytes_ = 0;  // HSYNC bytes since boundary_; counted with the frame.
  TraceIndex boundary_ = 0;        // Where the last frame or FSYNC ended.
  TraceIndex frame_index_ = 0;     // Index of the frame that was completed last.
  TraceId current_id_ = kNoTraceId;
  const std::uint8_t* frame_at_ = nullptr;  // Its 16 bytes.
  std::array<std::uint8_t, kFrameSize> partial_{};
};

}  // namespace waymark::frames
