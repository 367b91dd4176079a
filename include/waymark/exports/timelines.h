// Timelines in the formats of other programs.  See analysis-outputs.md 3.2 to 3.4.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/stacks/timeline.h"

namespace waymark::exports {

using TimelineTrack = std::uint32_t;
using TimelineName = std::uint32_t;

/// The unit of the times of a timeline.
struct TimelineUnit {
  bool nanoseconds = false;
  std::string words{};  ///< If not nanoseconds: what is counted, as in "instructions".
};

/// Converts timestamps of the trace to nanoseconds; empty: their rate is not known, and times are
/// ticks.
using ToNanoseconds = std::function<std::uint64_t(std::uint64_t ticks)>;

/// Timestamps that count this many ticks in a second, from 0 on.  0: empty.
ToNanoseconds at_frequency(std::uint64_t ticks_per_second);

/// Writes slices, instants and counters on tracks.  Slices of a track nest, and times of a track
/// never decrease.  The text of `out` may be taken away between two calls.
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;

  /// Comes first.
  virtual void begin(const TimelineUnit& unit) = 0;
  /// Tracks of one `process` are shown together.
  virtual TimelineTrack add_track(std::string_view process, std::string_view name) = 0;
  /// The number of a name; names and tracks are numbered from 0.
  virtual TimelineName add_name(std::string_view name) = 0;

  virtual void open_slice(TimelineTrack track, std::uint64_t time, TimelineName name) = 0;
  virtual void close_slice(TimelineTrack track, std::uint64_t time) = 0;
  virtual void instant(TimelineTrack track, std::uint64_t time, TimelineName name) = 0;
  /// The value of a counter from here on; a counter is a track of its own.
  virtual void counter(TimelineTrack track, std::uint64_t time, std::int64_t value) = 0;
  /// Closes all slices, and ends the file.
  virtual void finish() = 0;

  /// Whether events were left out because the format keeps all of them in memory.
  [[nodiscard]] virtual bool is_cut() const { return false; }
};

/// `out` must outlive the writer.
std::unique_ptr<TimelineWriter> make_speedscope(TextBuffer& out);
std::unique_ptr<TimelineWriter> make_trace_event(TextBuffer& out);
std::unique_ptr<TimelineWriter> make_perfetto(TextBuffer& out);

/// The stacks of threads as slices.
class StackTimeline final : public stacks::TimedSink {
 public:
  /// The processes and threads of a recording; may be empty.
  struct TrackNames {
    std::string process{};
    std::string thread{};
  };
  using TrackNamer = std::function<TrackNames(TraceId source, std::uint64_t thread)>;

  /// `tree` is that of the engine whose events come.
  StackTimeline(TimelineWriter& writer, const stacks::Tree& tree, ToNanoseconds clock,
                TrackNamer names = {});

  /// Nothing: the timeline has not begun.
  [[nodiscard]] std::optional<stacks::TimeUnit> unit() const { return unit_; }

  void on_unit(stacks::TimeUnit unit) override;
  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override;
  void on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId track, std::uint64_t time) override;
  void on_instant(stacks::TrackId track, std::uint64_t time, stacks::Instant what) override;

 private:
  [[nodiscard]] std::uint64_t converted(std::uint64_t time) const;

  TimelineWriter& writer_;
  const stacks::Tree& tree_;
  ToNanoseconds clock_;
  TrackNamer names_;
  std::optional<stacks::TimeUnit> unit_;
  bool converts_ = false;
  std::vector<TimelineTrack> tracks_;
  std::unordered_map<stacks::CodeId, TimelineName> codes_;
  std::unordered_map<std::uint8_t, TimelineName> instants_;
};

}  // namespace waymark::exports
