// Which source listens to which trace ID, and the two drivers over them (docs/architecture.md).
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/frames/demux.h"
#include "waymark/tree/source.h"

namespace waymark {

/// Takes what a source has got: all that its next() would give, or the same by other means.
using SourceWork = std::function<void(Source& source)>;

/// The decode tree.  Sources are owned.  One owner; not thread safe; two trees are independent.
class DecodeTree {
 public:
  /// Without options: unformatted, one source, whose packets carry the ID 0.
  /// `reference_quirks`: an error of the frame layer fails the tree, as in the reference, and the
  /// frame layer's quirks are on; otherwise decoding goes on at the next frame that can be found.
  explicit DecodeTree(std::optional<frames::Options> formatted, bool reference_quirks = false);
  /// Like the reference, with these quirks of the frame layer.
  DecodeTree(std::optional<frames::Options> formatted, const frames::Quirks& quirks);

  [[nodiscard]] bool formatted() const { return demux_.has_value(); }

  /// Attaches `source` to the stream of its trace ID (formatted) or to the one stream.
  /// kConflict: something is attached there already.
  Result<void> add(std::unique_ptr<Source> source);

  /// The source attached to `id`; for an unformatted tree, `id` is ignored.  nullptr: none.
  [[nodiscard]] Source* source(TraceId id) const;
  /// All sources, ascending by ID.
  [[nodiscard]] std::vector<Source*> sources() const;

  /// Only these IDs are decoded; the bytes of others are counted as without ID.  Empty: all.
  void set_filter(std::span<const TraceId> ids);

  /// Sees the packets and records of all sources, and the records of the frame layer.
  void set_observer(Observer* observer);
  void set_raw_monitor(frames::RawMonitor* monitor, bool packed, bool unpacked);

  // -- Interleaved driver: frame by frame, the exact order over all IDs. ------------------------

  /// Gives a block; next() must have returned 0 since the last one.  `index` must continue it.
  /// kInvalidArgument: size or index (frames::Demux::feed).
  Result<void> feed(TraceIndex index, Bytes block);

  /// As Source::next, over all sources.
  std::size_t next(std::span<Element> out);

  /// In place of next(), until that would return 0: where something else is done with the sources
  /// than to take their elements, Source::count() say.  `work` gets them one after the other, each
  /// with more of the block than next() feeds it at once: there is no order between sources.  If
  /// one fails, others may have gone further than they would with next().  Nobody shows packets.
  void work(const SourceWork& work);

  /// Takes back what is left of the present block and returns consumed(); the next feed() must
  /// start there.  What next() has not given yet stays.
  std::size_t withdraw();

  /// Before the first block, or after reset(): decoding begins in the middle, at a place that a
  /// demultiplexer told (frames::Demux::place).  Without frames it does nothing.
  void go_on(TraceId current_id);

  /// The bytes of `id` before `first` are passed over, as if they were those of an ID without
  /// source; kNoIndex: all of them.  Without frames it does nothing.
  void begin_at(TraceId id, TraceIndex first);

  /// End of the trace for all sources, ascending by ID; next() gives the rest.
  void finish();

  void reset();

  /// A source failed or the frame layer met an error: nothing more will come before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// Bytes of the present block that are used: whole frames, or whole packets.
  [[nodiscard]] std::size_t consumed() const;

  [[nodiscard]] frames::Statistics frame_statistics() const;
  void reset_statistics();

  // -- For decoders that start in the middle of a trace.  The trees have used up their blocks, have
  //    given all elements and are not finishing; `other` has the same sources. ------------------

  /// A copy with all state, without observer and monitor.
  [[nodiscard]] std::unique_ptr<DecodeTree> clone() const;

  /// Whether all sources can (Source::can_jump).  Never with `reference_quirks`.
  [[nodiscard]] bool can_jump() const;

  /// The next block may begin anywhere after the last one: sources wait for synchronisation
  /// points, and frames without ID bytes are taken to belong to the ID that is current now.
  void jump();

  /// Goes on where `other` is, also after finish().  What is known of the image, observer, filter
  /// and counts stay.
  void restore(const DecodeTree& other);

  /// From the same next blocks both will give the same.
  [[nodiscard]] bool same_state(const DecodeTree& other) const;

  /// From the same next blocks both will give the same bytes to their sources.
  [[nodiscard]] bool same_framing(const DecodeTree& other) const;

  /// How often the frames, or reset(), made all sources start anew.
  [[nodiscard]] std::uint64_t resets() const { return resets_; }

  /// Blocks must be a multiple of this: 1 where nothing is formatted.
  [[nodiscard]] std::size_t alignment() const { return demux_ ? demux_->options().alignment() : 1; }

  /// Adds what another tree has counted of the same trace.
  void add_statistics(const DecodeTree& other);

 private:
  enum class Phase : std::uint8_t { kInput, kFinishing };
  bool next_segment(bool elements_pending);
  bool take_segment(frames::Demux& demux);
  bool take_plain_frames(frames::Demux& demux);
  void split(frames::Demux& demux, const SourceWork& work);
  void work_all(const SourceWork& work);
  [[nodiscard]] std::size_t passed_of(const frames::Segment& segment) const;
  void report(const Diagnostic& record);
  bool next_to_finish();
  void reset_sources();
  [[nodiscard]] Source* listener(TraceId id) const;

  std::optional<frames::Demux> demux_;
  std::array<std::unique_ptr<Source>, kTraceIdCount> sources_;
  std::bitset<kTraceIdCount> enabled_;
  std::array<TraceIndex, kTraceIdCount> first_{};  ///< begin_at().
  Observer* observer_ = nullptr;
  frames::RawMonitor* raw_ = nullptr;
  bool reference_quirks_ = false;
  bool empty_segment_fails_ = false;
  bool raw_packed_ = false;
  bool shows_ = false;    ///< Packets or raw frames must come in order with the elements.
  bool stepped_ = false;  ///< A step of the frame layer waits until elements are taken.
  frames::Step step_ = frames::Step::kNeedInput;
  bool failed_ = false;

  Phase phase_ = Phase::kInput;
  TraceId next_finishing_ = 0;
  Source* current_ = nullptr;  ///< Whose input next() works on.
  frames::Run raw_run_;
  frames::StreamBuffer plain_;                 ///< Frames in a row that current_ works on.
  std::vector<frames::StreamBuffer> streams_;  ///< Of work(), by ID.
  std::uint64_t resets_ = 0;
  std::size_t segment_ = 0;
  std::size_t segment_count_ = 0;
};

}  // namespace waymark
