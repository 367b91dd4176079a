// Copies several buffers to one trace of memory-aligned frames, as one sink would have received
// what all their sources sent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "temporary_file.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/mux.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/joined_trace.h"

namespace waymark::inputs {

/// The trace ID in the joined trace for each ID of one buffer.
class JoinedIds {
 public:
  JoinedIds() {
    for (TraceId id = 0; id < kTraceIdCount; ++id) ids_[id] = id;
  }
  [[nodiscard]] TraceId of(TraceId own) const { return own < kTraceIdCount ? ids_[own] : own; }
  void set(TraceId own, TraceId joined) {
    changed_ = changed_ || own != joined;
    ids_[own] = joined;
  }
  /// Some ID is another one in the joined trace.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  std::array<TraceId, kTraceIdCount> ids_{};
  bool changed_ = false;
};

/// A buffer that is opened alone, without decoding.  In a buffer without frames, the stream has the
/// ID 0.
struct BufferInput {
  Capture* capture = nullptr;
  JoinedIds ids{};
};

/// Used once.  What each source sent stays as it was.  The buffers alternate so that their
/// timestamps are in order, in steps of kStep bytes; a buffer without timestamps comes after those
/// that have some.  Timestamps are compared as the trace gives them: all are to be of one
/// generator.
class BufferJoiner {
 public:
  static constexpr std::uint64_t kStep = 4096;

  BufferJoiner(const std::vector<BufferInput>& inputs, TemporaryFile& out);

  /// `stop`, which may be empty, is called from time to time.  True: joining ends.
  Result<void> join(const std::function<bool()>& stop);

  /// By number of the input.
  [[nodiscard]] const std::vector<JoinedTrace::Part>& parts() const { return parts_; }
  /// How often frames were lost in one of the buffers: there, four frame syncs reset all decoders.
  [[nodiscard]] std::uint64_t losses() const { return losses_; }

 private:
  struct Reader {
    BufferInput input;
    std::vector<std::uint64_t> times{};  ///< The time at which each step begins.
    std::size_t step = 0;                ///< The next one.
    std::optional<frames::Demux> demux{};
    TraceId current = kNoTraceId;  ///< The ID, in the joined trace, of the next byte.
  };

  Result<void> read_times(Reader& reader, const std::function<bool()>& stop);
  Reader* earliest();
  Result<void> copy_step(std::size_t number, bool begins);
  Result<void> copy_frames(Reader& reader, Bytes bytes);
  Result<void> copy_synced_frames(Reader& reader, TraceIndex index, Bytes bytes);
  Result<void> begin_part(std::size_t number, std::uint64_t offset);
  Result<void> end_part();
  Result<void> put(Bytes bytes);

  std::vector<Reader> readers_;
  TemporaryFile& out_;
  std::vector<JoinedTrace::Part> parts_;
  frames::Mux mux_;
  TraceIndex size_ = 0;
  /// The ID of the next byte of the joined trace; nothing: not known.
  std::optional<TraceId> current_ = kNoTraceId;
  std::uint64_t losses_ = 0;
};

}  // namespace waymark::inputs
