// The deformatter in bulk: takes whole blocks and gives one StreamBuffer per trace ID.  For drivers
// that decode source by source and need no order between sources.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "waymark/frames/demux.h"
#include "waymark/frames/stream.h"

namespace waymark::frames {

using IdSet = std::bitset<kTraceIdCount>;

/// The IDs 0x01 to 0x6F.
IdSet source_ids();

/// Gives, for each ID, the bytes and indexes that Demux gives frame by frame, with one Run per
/// segment.  Empty segments are left out.  Not thread safe.
///
///   splitter.feed(index, block);
///   while ((step = splitter.step()) != Step::kNeedInput) ...   // see step()
///   for (id ...) { parse(splitter.stream(id).block()); splitter.stream(id).clear(); }
class StreamSplitter {
 public:
  /// Keeps the bytes of the IDs in `wanted`; the others are only counted.
  explicit StreamSplitter(const Options& options, const IdSet& wanted = source_ids())
      : demux_(options), wanted_(wanted) {}

  /// Like Demux::feed().  Streams that are not cleared keep growing.
  Result<void> feed(TraceIndex index, Bytes block) { return demux_.feed(index, block); }

  /// Unpacks frames until something else occurs; never returns kFrame.  At kReset, kSkipped and
  /// kError the streams hold all that came before it and nothing after it: decode and clear them
  /// first, then reset the decoders.
  Step step();

  /// `id` < 0x80.
  [[nodiscard]] StreamBuffer& stream(TraceId id) { return streams_[id]; }
  [[nodiscard]] const StreamBuffer& stream(TraceId id) const { return streams_[id]; }

  /// The IDs that have had data since the construction, wanted or not.
  [[nodiscard]] IdSet seen() const;
  /// How many bytes of data an ID has had since the construction, wanted or not.
  [[nodiscard]] std::uint64_t bytes(TraceId id) const { return bytes_of_[id]; }

  [[nodiscard]] const Diagnostic& error() const { return demux_.error(); }
  [[nodiscard]] std::uint64_t held() const { return demux_.held(); }
  void resync() { demux_.resync(); }

  /// Like those of Demux; streams and counts stay.
  [[nodiscard]] std::optional<Demux::Place> place() const { return demux_.place(); }
  void go_on(TraceId current_id) { demux_.go_on(current_id); }

  /// The demultiplexer starts again; streams and counts stay.
  void reset() { demux_.reset(); }

  /// The counts since the construction; frames.md 5.  `attached`: the IDs that have a decoder.
  [[nodiscard]] Statistics statistics(const IdSet& attached) const;

 private:
  void split_frames();
  void split_frame(const std::uint8_t* frame, TraceIndex index);
  std::size_t pass_plain_frames();

  Demux demux_;
  IdSet wanted_;
  std::array<StreamBuffer, kTraceIdCount> streams_;
  std::array<std::uint64_t, 256> bytes_of_{};  // By ID, including kNoTraceId.
};

}  // namespace waymark::frames
