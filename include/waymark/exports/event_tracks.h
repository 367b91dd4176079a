// Exceptions, events and messages on the tracks of a timeline that others may write to as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "waymark/count/exception_stack.h"
#include "waymark/exports/event_writer.h"
#include "waymark/exports/events.h"
#include "waymark/exports/timelines.h"

namespace waymark::exports {

/// Exceptions become slices, data values counters, and everything else instants.  Each source has
/// its tracks: its exceptions, each stimulus port with the text that was written to it, and so on.
/// One owner; not thread safe.
class EventTracks {
 public:
  /// Tracks beyond these share one.
  static constexpr std::size_t kMostTracks = 4096;
  /// Distinct names beyond these are those of the kind of event.
  static constexpr std::size_t kMostNames = std::size_t{1} << 18;

  /// `writer` has begun, and must outlive this.  `clock`: see ToNanoseconds.
  EventTracks(TimelineWriter& writer, ToNanoseconds clock, std::span<const EventSource> sources,
              MessageText message_text);

  /// The times of a source must not go back.
  void add(const Element& element, std::uint64_t time);
  /// Ends what is open.
  void finish();

  /// Events whose text was left out, because there were too many texts.
  [[nodiscard]] std::uint64_t unnamed() const { return unnamed_; }

 private:
  /// The source, what is on it, and its number.
  using TrackKey = std::tuple<TraceId, EventKind, std::uint32_t, std::uint32_t>;

  [[nodiscard]] std::uint64_t converted(std::uint64_t time) const;
  TimelineTrack track(const Event& event, EventKind kind, bool numbered, std::string_view name);
  TimelineTrack exception_track(TraceId source);
  TimelineName name(std::string text, EventKind kind);
  count::ExceptionStack::Left closer(TraceId source);
  void instant(const Event& event, EventKind kind, bool numbered, std::string_view on,
               const std::string& text, std::uint64_t time);
  void show(const Element& element, const Event& event, std::uint64_t time);
  void show_exception(const Event& event, std::uint64_t time);
  void show_port(const Event& event, std::uint64_t time);
  void end_text(std::pair<TraceId, std::uint32_t> key);
  void end_texts(TraceId source);

  TimelineWriter& writer_;
  ToNanoseconds clock_;
  MessageText message_text_;
  std::map<TraceId, std::string> names_of_sources_;
  std::map<TrackKey, TimelineTrack> tracks_;
  std::map<std::string, TimelineName> names_;
  std::map<TraceId, count::ExceptionStack> exceptions_;
  std::map<TraceId, std::size_t> open_slices_;
  std::map<std::pair<TraceId, std::uint32_t>, std::string> texts_;
  std::vector<Event> found_;
  std::uint64_t last_ = 0;
  std::uint64_t unnamed_ = 0;
};

}  // namespace waymark::exports
