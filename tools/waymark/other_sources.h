// The output of the sources beside the cores, in the timeline of the cores.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "event_merge.h"
#include "export_messages.h"
#include "waymark/exports/event_tracks.h"
#include "waymark/exports/timelines.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// They share the timestamp generator of the cores, so that they can be shown only if the times of
/// the timeline are timestamps.  One owner.
class OtherSources {
 public:
  /// Events that wait until the timeline knows its times.
  static constexpr std::size_t kMostHeld = std::size_t{1} << 20;

  /// All must outlive this.
  OtherSources(const inputs::Capture& capture, const ExportMessages& messages,
               exports::TimelineWriter& writer, const exports::StackTimeline& timeline,
               exports::ToNanoseconds clock);

  void add(std::span<const Element> elements);
  /// The timeline of the cores has ended.
  void finish();
  /// Says on standard error what is missing.
  void report() const;

 private:
  void take(const merge::TimedRecord& record);
  void show(const Element& element, std::uint64_t time);
  /// Gives what waited to the tracks, once the timeline has begun.
  bool begun();

  exports::TimelineWriter& writer_;
  const exports::StackTimeline& timeline_;
  exports::ToNanoseconds to_nanoseconds_;
  std::unique_ptr<MessageStage> messages_;
  std::array<bool, 256> is_other_{};
  std::vector<exports::EventSource> sources_;
  std::unique_ptr<EventMerge> merge_;
  exports::EventClock clock_;
  std::unique_ptr<exports::EventTracks> tracks_;
  struct Held {
    Element element;
    std::uint64_t time = 0;
  };
  std::vector<Held> held_;
  std::vector<Element> kept_;
  std::vector<exports::Event> found_;
  std::uint64_t timeless_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace waymark::cli
