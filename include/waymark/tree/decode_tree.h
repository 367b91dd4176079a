// Which source gets which trace ID, and the two drivers over them (docs/architecture.md).
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/segment_memory.h"
#include "waymark/protocol/source.h"

namespace waymark {

/// Takes what a source has to give: all that its next() would give, or the same by other means.
using SourceWork = std::function<void(Source& source)>;

/// How the reference's tree deviates, one named flag each.
struct TreeQuirks {
  /// An error of the frame layer fails the tree.  Otherwise decoding continues at the next frame
  /// that can be found.
  bool frame_errors_are_fatal = false;
  /// Elements that a source holds are lost at a reset in the trace.  Otherwise they are given.
  bool resets_lose_elements = false;
  /// Sources see the bytes that follow their segment in memory (frames/segment_memory.h).
  bool memory_after_segments = false;
  frames::Quirks frame_layer;

  static constexpr TreeQuirks reference();
  friend bool operator==(const TreeQuirks&, const TreeQuirks&) = default;
};

/// Their names.
inline constexpr std::array<NamedQuirk<TreeQuirks>, 3> kTreeQuirks{{
    {"frame_errors_are_fatal", &TreeQuirks::frame_errors_are_fatal},
    {"resets_lose_elements", &TreeQuirks::resets_lose_elements},
    {"memory_after_segments", &TreeQuirks::memory_after_segments},
}};

constexpr TreeQuirks TreeQuirks::reference() {
  TreeQuirks quirks = chosen(kTreeQuirks, kReferenceQuirks);
  quirks.frame_layer = frames::Quirks::reference();
  return quirks;
}

/// The decode tree.  Sources are owned.  One owner; not thread safe; two trees are independent.
class DecodeTree {
 public:
  /// Without options: unformatted, with one source, whose packets have the ID 0.
  explicit DecodeTree(std::optional<frames::Options> formatted, const TreeQuirks& quirks = {});

  [[nodiscard]] bool formatted() const { return demux_.has_value(); }

  /// Attaches `source` to the stream of its trace ID (formatted) or to the only stream.  kConflict:
  /// another source is attached there.
  Result<void> add(std::unique_ptr<Source> source);

  /// The source attached to `id`; for an unformatted tree, `id` is ignored.  nullptr: none.
  [[nodiscard]] Source* source(TraceId id) const;
  /// All sources, ascending by ID.
  [[nodiscard]] std::vector<Source*> sources() const;

  /// Only these IDs are decoded; the bytes of others are counted as having no ID.  Empty: all.
  void set_filter(std::span<const TraceId> ids);

  /// Sets the observer of the packets and records of all sources, and of the frame layer's records.
  void set_observer(Observer* observer);
  void set_raw_monitor(frames::RawMonitor* monitor, bool packed, bool unpacked);

  // -- Interleaved driver: frame by frame, the exact order over all IDs. ------------------------

  /// Gives a block; since the last one, next() must have returned 0.  `index` must continue it.
  /// kInvalidArgument: size or index (frames::Demux::feed).
  Result<void> feed(TraceIndex index, Bytes block);

  /// Like Source::next, over all sources.
  std::size_t next(std::span<Element> out);

  /// Instead of next(), until that would return 0: for uses that do something else with the sources
  /// than take their elements, Source::count() for instance.  `work` gets the sources one after the
  /// other, each with more of the block than next() feeds it at once: there is no order between
  /// sources.  If one fails, others may have gone further than with next().  Packets are not shown.
  void work(const SourceWork& work);

  /// Gives up the rest of the current block and returns consumed(); the next feed() must start
  /// there.  What next() has not given yet stays.
  std::size_t withdraw();

  /// For quirks that depend on where blocks end: what the source that next() works on has not read
  /// of its block, or of the segment of a frame, becomes a new block.  Never without quirks.
  void restart_block();

  /// For observers: nothing more of the current block is read, by any source.
  void leave_block();

  /// Before the first block, or after reset(): decoding begins in the middle, at a place that a
  /// demultiplexer gave (frames::Demux::place).  Without frames it does nothing.
  void go_on(TraceId current_id);

  /// The bytes of `id` before `first` are skipped, as if the ID had no source; kNoIndex: all of
  /// them.  Without frames it does nothing.
  void begin_at(TraceId id, TraceIndex first);

  /// The end of the trace for all sources, ascending by ID; next() gives the rest.
  void finish();

  /// Bytes are missing before the next block, which may begin at any index.  next() or work() gives
  /// what the sources hold; then they wait for synchronisation points, and frames are aligned
  /// again.
  void lose();

  /// Makes the source of an ID that has bytes but no source; nullptr: it stays without one.  Asked
  /// once per ID.  For traces whose IDs are not known before they are read.
  using SourceMaker = std::function<std::unique_ptr<Source>(TraceId id)>;
  void set_source_maker(SourceMaker maker) { late_.make = std::move(maker); }

  void reset();

  /// A source failed or the frame layer met an error: nothing more is given before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// The bytes of the current block that are used: whole frames, or whole packets.
  [[nodiscard]] std::size_t consumed() const;

  [[nodiscard]] frames::Statistics frame_statistics() const;
  /// The records of damage so far, of the frames and of all sources: those that an observer gets,
  /// except for those of Severity::kInfo.  Every command that judges a capture shows this number.
  [[nodiscard]] std::uint64_t damage() const;
  void reset_statistics();

  // -- For decoders that start in the middle of a trace.  The trees have used up their blocks, have
  //    given all elements and are not finishing; `other` has the same sources. ------------------

  /// A copy with all state, without observer and monitor.
  [[nodiscard]] std::unique_ptr<DecodeTree> clone() const;

  /// Whether all sources can jump (Source::can_jump).  Never with quirks.
  [[nodiscard]] bool can_jump() const;

  /// The next block may begin anywhere after the last one: sources wait for synchronisation points,
  /// and frames without ID bytes are assumed to belong to the ID that is current now.
  void jump();

  /// Continues from the state of `other`, also after finish().  What is known of the image,
  /// observer, filter and counts stay.
  void restore(const DecodeTree& other);

  /// Given the same blocks from here on, both will give the same.
  [[nodiscard]] bool same_state(const DecodeTree& other) const;

  /// Given the same blocks from here on, both will give the same bytes to their sources.
  [[nodiscard]] bool same_framing(const DecodeTree& other) const;

  /// How often the frames, or reset(), made all sources start again.
  [[nodiscard]] std::uint64_t resets() const { return resets_; }

  /// Blocks must be a multiple of this: 1 if the trace is not formatted.
  [[nodiscard]] std::size_t alignment() const { return demux_ ? demux_->options().alignment() : 1; }

  /// Adds the counts of another tree for the same trace.
  void add_statistics(const DecodeTree& other);

 private:
  enum class Phase : std::uint8_t { kInput, kEndingPiece, kFinishing };
  bool next_source(bool elements_pending);
  bool next_segment(bool elements_pending);
  bool take_segment(frames::Demux& demux);
  bool take_plain_frames(frames::Demux& demux);
  void split(frames::Demux& demux, const SourceWork& work);
  void work_all(const SourceWork& work);
  void end_piece(const SourceWork& work);
  [[nodiscard]] std::size_t passed_of(const frames::Segment& segment) const;
  void report(const Diagnostic& record);
  Source* make_source(TraceId id);
  bool next_to_finish();
  void reset_sources();
  [[nodiscard]] Source* listener(TraceId id) const;
  [[nodiscard]] bool has_quirks() const { return quirks_ != TreeQuirks{}; }

  std::optional<frames::Demux> demux_;
  frames::SegmentMemory memory_;  ///< Only with quirks.
  std::array<std::unique_ptr<Source>, kTraceIdCount> sources_;
  std::bitset<kTraceIdCount> enabled_;
  /// Sources that are made when their IDs have bytes.
  struct LateSources {
    SourceMaker make;                  ///< May be empty.
    std::bitset<kTraceIdCount> asked;  ///< The IDs for which it was called.
  };
  LateSources late_;
  std::array<TraceIndex, kTraceIdCount> first_{};  ///< Set by begin_at().
  TreeQuirks quirks_;

  /// The receivers of packets, records and raw frames.
  struct Watchers {
    Observer* observer = nullptr;
    frames::RawMonitor* unpacked =
        nullptr;  ///< The demultiplexer has the monitor of packed frames.
    bool packed = false;
    /// Packets or raw frames must come in order with the elements.
    [[nodiscard]] bool in_order() const {
      return unpacked != nullptr || packed || (observer != nullptr && observer->wants_packets());
    }
  };
  Watchers watchers_;
  bool shows_ = false;  ///< Watchers::in_order(), which need not be asked for each segment.

  /// The work that next() has begun and not completed.  Initially none.
  struct Progress {
    Phase phase = Phase::kInput;
    TraceId next_finishing = 0;
    Source* current = nullptr;  ///< The source whose input next() works on.
    std::size_t segment = 0;    ///< The next one of the frame.
    std::size_t segment_count = 0;
    frames::Step step = frames::Step::kNeedInput;
    bool step_waits = false;  ///< `step` waits until elements are taken.
    bool loses = false;       ///< lose() was called: the frames start again after the piece.
  };
  Progress progress_;
  bool failed_ = false;

  /// What a source was fed.
  struct Block {
    frames::Run run{};
    Bytes bytes{};                 ///< The client's block, without frames.
    std::size_t restarted_at = 0;  ///< Where restart_block() began a new one.
  };
  Block block_;

  frames::StreamBuffer plain_;                 ///< Consecutive frames that a source works on.
  std::vector<frames::StreamBuffer> streams_;  ///< For work(), by ID.
  std::uint64_t resets_ = 0;
};

}  // namespace waymark
