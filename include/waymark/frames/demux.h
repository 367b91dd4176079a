// The CoreSight frame deformatter: 16-byte frames in, one byte stream per trace ID out.
// See frames.md.
#pragma once

#include <algorithm>
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

/// Whether the four bytes at `at` are a frame sync.
inline bool is_fsync(const std::uint8_t* at) {
  return std::memcmp(at, kFsyncBytes.data(), kFsyncBytes.size()) == 0;
}

/// How the capture was formatted; frames.md 3.
struct Options {
  bool has_fsyncs = false;         ///< TPIU continuous mode: FF FF FF 7F between frames.
  bool has_hsyncs = false;         ///< FF 7F may appear at even offsets.
  bool memory_aligned = true;      ///< Only frames; excludes the two above.
  bool reset_on_4x_fsync = false;  ///< Memory-aligned only: 4k consecutive FSYNCs reset everything.
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
  /// Applies to code that passes segments on: an empty segment for an ID with a decoder ends
  /// decoding.  Bytes 12 to 15 `23 00 25 40`
  bool empty_segment_fails = false;
  /// The FSYNCs directly before a frame with an error do not count in the statistics.
  /// `ff ff ff 7f 12 34 ff 7f`
  bool failed_pass_uncounted = false;

  /// By their row in kQuirks.
  static constexpr Quirks of(QuirkSet set);
  static constexpr Quirks reference() { return of(kReferenceQuirks); }
  friend bool operator==(const Quirks&, const Quirks&) = default;
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<Quirks>, 4> kQuirks{{
    {"block_end_moves_index", &Quirks::block_end_moves_index},
    {"fsync_after_hsync_fails", &Quirks::fsync_after_hsync_fails},
    {"empty_segment_fails", &Quirks::empty_segment_fails},
    {"failed_pass_uncounted", &Quirks::failed_pass_uncounted},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, set); }

/// Consecutive bytes of one ID within one frame; at most 15.  `id` is kNoTraceId before the first
/// ID byte of the stream.  The index of byte i of `bytes` is `index + i` (frames.md 1.2).
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

/// Unpacks the 16 bytes at `frame`.  `index` is that of byte 0; `current_id` is carried from frame
/// to frame.  Returns the number of bytes of the frame that are not trace data: the flag byte and
/// the ID bytes.
unsigned unpack(const std::uint8_t* frame, TraceIndex index, TraceId& current_id, Frame& out);

/// Counts every byte of completed frames; frames.md 5.  Demux counts only frame_bytes: only the
/// driver knows which ID has a decoder, so the driver adds the size of each segment to one of the
/// others, with count().
struct Statistics {
  std::uint64_t valid_id_bytes = 0;
  std::uint64_t no_id_bytes = 0;
  std::uint64_t reserved_id_bytes = 0;
  std::uint64_t unknown_id_bytes = 0;
  std::uint64_t frame_bytes = 0;
  std::uint64_t damage = 0;  ///< Records, not bytes: those of Severity::kInfo do not count.
  friend bool operator==(const Statistics&, const Statistics&) = default;
  Statistics& operator+=(const Statistics& more) {
    valid_id_bytes += more.valid_id_bytes;
    no_id_bytes += more.no_id_bytes;
    reserved_id_bytes += more.reserved_id_bytes;
    unknown_id_bytes += more.unknown_id_bytes;
    frame_bytes += more.frame_bytes;
    damage += more.damage;
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

/// Sees the frames as they are unpacked; frames.md 6.  Demux sends kPacked and kFsync.  The driver
/// sends kIdData, before it delivers the segment: only the driver knows the order of the two and
/// which IDs are filtered.
class RawMonitor {
 public:
  virtual ~RawMonitor() = default;
  virtual void on_raw_frame(RawKind kind, TraceIndex index, TraceId id, Bytes bytes) = 0;
};

enum class Step : std::uint8_t {
  kFrame,      ///< `frame()` holds the next frame.
  kReset,      ///< A run of 4k FSYNCs: every downstream decoder must be reset.
  kSkipped,    ///< Bytes were skipped to find the next frame: `error()` says how many.
  kNeedInput,  ///< The block is used up.
  kError,      ///< See `error()`; call reset() or resync() before going on.
};

/// The deformatter, one frame at a time: the exact global order over all IDs.  feed() a block, then
/// step() until kNeedInput.  Not thread safe.  Input may be divided at any multiple of
/// Options::alignment(): the frames are the same.  (A run of FSYNCs cut by the end of a block gives
/// one kReset per block.)
class Demux {
 public:
  /// `options` must pass check(); otherwise memory_aligned takes precedence.
  explicit Demux(const Options& options, const Quirks& quirks = {})
      : options_(options), quirks_(quirks) {
    reset();
  }

  /// Gives the next block; the previous one must be used up or withdrawn.  `index` is the offset of
  /// its first byte and must continue the last block (the first block after a reset may start
  /// anywhere).  `block` must live until it is used up.  kInvalidArgument: the size or index is
  /// wrong, a block is still in use, or an error came before; then nothing is consumed, and error()
  /// says which.
  Result<void> feed(TraceIndex index, Bytes block);

  /// After kError it returns kNeedInput until reset() or resync().
  Step step();

  [[nodiscard]] const Frame& frame() const { return frame_; }

  /// Replaces several calls of step(): unpacks the next frames of the block that have no ID bytes,
  /// all of them of current_id(), to `out` one after the other, as many as fit.  Returns their
  /// number; `index` becomes that of the first.  0: call step(), which is always so with a monitor,
  /// and for frames that are not memory-aligned.
  std::size_t take_plain_frames(std::span<std::uint8_t> out, TraceIndex& index);
  /// The same as a run that is appended to `out`, with at most `most` frames.
  std::size_t take_plain_frames(StreamBuffer& out, std::size_t most);

  /// Returns the last `count` of them to the block; must come before any other call.
  void give_back_frames(std::size_t count);

  /// The subject of kError or kSkipped, or of a refused feed().  For kError the index is that of
  /// the failing pass (frames.md 4.3); for kSkipped it is that of the first lost byte, and `lost`
  /// is the number of lost bytes.
  [[nodiscard]] const Diagnostic& error() const { return error_; }

  /// The bytes of the current block that completed frames, syncs and skips have used.  For a block
  /// that is used up this is its size, because an unfinished frame is kept inside.
  [[nodiscard]] std::size_t consumed() const { return framing_.failed ? block_.pass : block_.pos; }

  /// Gives up the rest of the block, after a kFrame for instance, and returns consumed().  The next
  /// block must start there.
  std::size_t withdraw();

  /// After kError: continues at the next FSYNC or, without FSYNCs, at the next aligned frame.  The
  /// current ID becomes unknown.  A kSkipped reports when a frame boundary is found.
  void resync();

  /// Returns to the unsynchronised state; options and statistics stay.
  void reset();

  /// Starts again in the middle of a capture: the next block may begin anywhere.  `current` is the
  /// ID that frames without ID bytes belong to, if it is known.
  void start(TraceId current) {
    reset();
    current_id_ = current;
  }

  /// Given the same blocks from here on, both will give the same frames and errors.  Both must have
  /// used up their blocks.
  [[nodiscard]] bool same_state(const Demux& other) const;

  /// A place where another demultiplexer can continue: the first byte that belongs to no frame
  /// given so far, and the ID that is current there.
  struct Place {
    TraceIndex index = 0;
    TraceId current_id = kNoTraceId;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// Empty if no frame boundary is known.  Call it when a block is used up.
  [[nodiscard]] std::optional<Place> place() const;
  /// Like reset(), but the next block begins at a place, with a frame or a sync.
  void go_on(TraceId current_id) {
    reset();
    framing_.synced = true;
    current_id_ = current_id;
  }

  /// Bytes that were taken in but neither counted nor reported as skipped: an unfinished frame, or
  /// the search for a sync.  At the end of the capture they are lost.
  [[nodiscard]] std::uint64_t held() const {
    return framing_.started ? block_.index() - framing_.boundary : 0;
  }

  /// The ID of the next data byte, unless an ID byte comes first.
  [[nodiscard]] TraceId current_id() const { return current_id_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

  /// `monitor` may be null and must outlive its use.  It sees kFsync, and kPacked if `packed`.
  void set_monitor(RawMonitor* monitor, bool packed) {
    monitor_ = monitor;
    packed_ = packed;
  }

 private:
  friend class StreamSplitter;

  Result<void> refuse(Finding finding, TraceIndex index, std::string detail);
  Step advance();
  Step advance_aligned();
  Step advance_pairs();
  bool starts_sync(std::size_t next) const;
  Step complete_frame();
  bool search();
  Step end_discarding();
  void move_boundary() { framing_.boundary = block_.index(); }
  Step skipped(TraceIndex from, std::uint64_t count);
  Step end_block();
  Step fail_pass(Finding finding);
  Step fail_pair(Finding finding, std::uint64_t counted_before);
  void end_pass();
  void show_packed();

  /// The block in use; bytes [pass, pos) are the present pass.
  struct Block {
    Bytes bytes{};
    TraceIndex base = 0;  ///< The index of byte 0.
    std::size_t pos = 0;  ///< The next byte.
    std::size_t pass = 0;
    std::size_t reset_bytes = 0;  ///< FSYNC bytes of the last kReset, not yet shown.
    std::uint8_t held_sync = 0;   ///< Bytes of the first FSYNC that come before this block.

    [[nodiscard]] const std::uint8_t* at() const { return bytes.data() + pos; }
    [[nodiscard]] std::size_t left() const { return bytes.size() - pos; }
    [[nodiscard]] TraceIndex index() const { return base + pos; }
    [[nodiscard]] TraceIndex pass_index() const { return base + pass - held_sync; }
    void begin_pass() { pass = pos; }
    /// The end of the FSYNCs that begin here.
    [[nodiscard]] std::size_t end_of_fsyncs() const {
      std::size_t end = pos;
      while (end < bytes.size() && is_fsync(bytes.data() + end)) end += kFsyncBytes.size();
      return end;
    }
  };

  /// Known facts about frame boundaries.
  struct Framing {
    bool started = false;      ///< A block was fed since the reset.
    bool synced = false;       ///< A frame boundary is known.
    bool failed = false;       ///< kError was returned.
    bool resyncing = false;    ///< The search follows an error.
    bool discarding = false;   ///< The current frame contains the damage: it is dropped at its end.
    std::uint8_t matched = 0;  ///< Search: the bytes so far end with this many FFs (at most 3).
    TraceIndex boundary = 0;   ///< The end of the last frame or FSYNC.
    friend bool operator==(const Framing&, const Framing&) = default;
  };

  /// The bytes after the boundary that do not complete a frame yet.
  struct Partial {
    bool half = false;         ///< FF FF was taken at a frame boundary; FF 7F must follow.
    bool carrying = false;     ///< `carry` is the first byte of a pair that a block end cut.
    bool after_hsync = false;  ///< An HSYNC was dropped in this pass with no frame byte held.
    std::uint8_t carry = 0;
    std::uint8_t have = 0;          ///< Bytes of the frame; even.
    std::uint64_t hsync_bytes = 0;  ///< HSYNC bytes; counted with the frame.
    std::array<std::uint8_t, kFrameSize> bytes{};

    [[nodiscard]] bool empty() const { return have == 0 && !half && !carrying; }
    friend bool operator==(const Partial& a, const Partial& b) {
      return a.half == b.half && a.carrying == b.carrying && (!a.carrying || a.carry == b.carry) &&
             a.after_hsync == b.after_hsync && a.have == b.have && a.hsync_bytes == b.hsync_bytes &&
             std::equal(a.bytes.begin(), a.bytes.begin() + a.have, b.bytes.begin());
    }
  };

  Options options_;
  Quirks quirks_;
  Statistics statistics_;
  Frame frame_;
  Diagnostic error_;
  RawMonitor* monitor_ = nullptr;
  bool packed_ = false;
  Block block_;
  Framing framing_;
  Partial partial_;
  TraceId current_id_ = kNoTraceId;
  TraceIndex frame_index_ = 0;              // The index of the frame that was completed last.
  const std::uint8_t* frame_at_ = nullptr;  // Its 16 bytes.
};

}  // namespace waymark::frames
