#include "waymark/exports/event_timeline.h"

#include <fmt/format.h>

#include <memory>

#include "waymark/base/plural.h"
#include "waymark/exports/event_tracks.h"

namespace waymark::exports {
namespace {

class EventTimeline final : public EventWriter {
 public:
  using Make = std::unique_ptr<TimelineWriter> (*)(TextBuffer& out);
  EventTimeline(Make make, ToNanoseconds clock)
      : make_(make), clock_of_timestamps_(std::move(clock)) {}

  void survey(std::span<const Element> elements) override {
    for (const Element& element : elements) {
      survey_.add(element);
      found_.clear();
      events_of(element, found_);
      for (const Event& event : found_) {
        if (event.kind == EventKind::kGap || event.kind == EventKind::kTraceOn) continue;
        survey_.add_source(event.source);
        has_events_ = true;
      }
    }
  }
  [[nodiscard]] bool has_events() const override { return has_events_; }
  [[nodiscard]] bool wants_times() const override {
    return survey_.time() == EventTime::kTimestamps;
  }

  void begin(std::span<const EventSource> sources, TextBuffer& out) override {
    writer_ = make_(out);
    ToNanoseconds clock = wants_times() ? clock_of_timestamps_ : ToNanoseconds();
    writer_->begin(
        {.nanoseconds = clock != nullptr, .words = std::string(words_of(survey_.time()))});
    tracks_ = std::make_unique<EventTracks>(*writer_, std::move(clock), sources, message_text());
    clock_ = std::make_unique<EventClock>(
        survey_.time(),
        [this](const Element& element, std::uint64_t time) { tracks_->add(element, time); });
  }
  void add(const merge::TimedRecord& record) override {
    if (clock_->add(record)) return;
    found_.clear();
    events_of(record.element, found_);
    timeless_ += found_.size();
  }
  void add(std::span<const Element> elements) override { clock_->add(elements); }
  void finish() override {
    clock_->finish();
    tracks_->finish();
    writer_->finish();
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (survey_.time() == EventTime::kPositions)
      notes.emplace_back(
          "The trace has no timestamps: times are positions in the trace, in bytes.");
    if (timeless_ != 0) {
      notes.push_back(fmt::format("{} left out, because their sources have no timestamps.",
                                  counted(timeless_, "event is", "events are")));
    }
    if (tracks_ && tracks_->unnamed() != 0) {
      notes.push_back(
          fmt::format("{} without their text, because there are too many distinct texts.",
                      counted(tracks_->unnamed(), "event is", "events are")));
    }
    if (writer_ && writer_->is_cut()) {
      notes.emplace_back(
          "The format holds a limited number of events, and the rest is left out; use perfetto, or "
          "select a part with --from and --to.");
    }
    return notes;
  }

 private:
  Make make_;
  ToNanoseconds clock_of_timestamps_;
  TimeSurvey survey_;
  bool has_events_ = false;
  std::unique_ptr<TimelineWriter> writer_;
  std::unique_ptr<EventTracks> tracks_;
  std::unique_ptr<EventClock> clock_;
  std::vector<Event> found_;
  std::uint64_t timeless_ = 0;
};

}  // namespace

std::unique_ptr<EventWriter> make_event_timeline(
    std::unique_ptr<TimelineWriter> (*make)(TextBuffer& out), ToNanoseconds clock) {
  return std::make_unique<EventTimeline>(make, std::move(clock));
}

}  // namespace waymark::exports
