// One pass through a stretch of the capture, packets only, for the builder and the finder.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "waymark/frames/splitter.h"
#include "waymark/index/seek.h"

namespace waymark::index {

/// The counts of one source in a block; its landmarks came before.
struct StreamCounts {
  TraceId id = 0;
  Tally tally;
};

/// Receives the contents of the requested blocks, block by block.
class PassSink {
 public:
  virtual ~PassSink() = default;
  virtual void on_landmark(TraceId id, const Landmark& landmark) = 0;
  /// The block is complete.  An error ends the pass, and so does false.
  virtual Result<bool> on_block(const SourceBlock& block,
                                std::span<const StreamCounts> streams) = 0;
  /// Called now and then in blocks that were not requested.  True: the pass ends.
  [[nodiscard]] virtual bool stops() const = 0;
};

/// Runs the sources of a capture that was opened without decoding.
class Pass final : private Observer {
 public:
  Pass(inputs::Capture& capture, std::uint64_t granule, PassSink& sink);
  ~Pass() override;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// Runs once, from the entry on; blocks from `first` to before `end` go to the sink.  If `end` is
  /// past the capture, it reads to the end and takes what the sources still hold.  False: the sink
  /// ended the pass.
  Result<bool> run(const Entry& entry, std::uint64_t first, std::uint64_t end);

  /// Continues from position(), which must not be after the block `first`.
  Result<bool> go_on(std::uint64_t first, std::uint64_t end);

  /// Everything before it was read.
  [[nodiscard]] TraceIndex position() const { return position_; }

 private:
  struct Part {
    TraceId id = 0;      ///< The ID of the source.
    TraceId stream = 0;  ///< The ID that its packets carry.
    Source* source = nullptr;
    TraceIndex first = 0;               ///< Bytes before this index are skipped.
    std::optional<TraceIndex> align{};  ///< A kAlign that no kSync has followed.
    std::uint64_t bytes = 0;            ///< In the present block.
    SourceStatistics before;            ///< The statistics when the present block began.
  };

  /// The present block.
  struct Present {
    SourceBlock block;
    std::array<std::uint32_t, kTraceIdCount> id_bytes{};
    std::vector<StreamCounts> counts{};
  };

  [[nodiscard]] bool wants_packets() const override { return false; }
  [[nodiscard]] bool wants_landmarks() const override { return true; }
  void on_landmark(const Landmark& landmark, TraceId stream) override;

  void begin_block(std::uint64_t number);
  Result<bool> end_block();
  Result<void> feed(TraceIndex index, Bytes bytes);
  void feed_source(Part& part, const frames::StreamBlock& block);
  void drain(frames::StreamSplitter& splitter);
  void take_triggers(frames::StreamSplitter& splitter);
  void reset_sources();
  void count_frame_syncs(TraceIndex index, Bytes bytes);

  inputs::Capture& capture_;
  std::uint64_t granule_;
  PassSink& sink_;
  std::optional<frames::StreamSplitter> splitter_;
  std::vector<Part> parts_;
  std::array<Part*, kTraceIdCount> part_of_{};  ///< By stream ID.
  frames::StreamBuffer rest_;                   ///< What is left of a block after Part::first.
  Present present_;
  std::optional<frames::Demux::Place> entered_;
  TraceIndex position_ = 0;
  bool started_ = false;
  bool accepting_ = false;
  std::uint64_t passed_over_ = 0;  ///< Blocks that were not requested.
  unsigned sync_matched_ = 0;      ///< Bytes of a frame sync at the end of the last piece.
};

}  // namespace waymark::index
