#include "waymark/exports/event_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "waymark/base/plural.h"
#include "waymark/exports/events.h"

namespace waymark::exports {
namespace {

/// Text without a line end becomes an instant of its own from this length on.
constexpr std::size_t kLongText = 160;
/// Tracks beyond these share one.
constexpr std::size_t kMostTracks = 4096;
/// Distinct names beyond these are those of the kind of event.
constexpr std::size_t kMostNames = std::size_t{1} << 16;

/// The characters of a write to a port; nothing: it is not text.
std::optional<std::string> text_of_write(const Event& event) {
  std::string text;
  for (unsigned bit = 0; bit < event.bits; bit += 8) text += static_cast<char>(event.value >> bit);
  while (text.size() > 1 && text.back() == '\0') text.pop_back();
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
  return plain ? std::optional(text) : std::nullopt;
}

class EventTimeline final : public EventWriter {
 public:
  using Make = std::unique_ptr<TimelineWriter> (*)(TextBuffer& out);
  EventTimeline(Make make, std::uint64_t ticks_per_second)
      : make_(make), ticks_per_second_(ticks_per_second) {}

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
    for (const EventSource& source : sources) names_of_sources_[source.id] = source.name;
    writer_ = make_(out);
    converts_ = wants_times() && ticks_per_second_ != 0;
    writer_->begin({.nanoseconds = converts_, .words = std::string(words_of(survey_.time()))});
    clock_.emplace(survey_.time(),
                   [this](const Element& element, std::uint64_t time) { take(element, time); });
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
    while (!texts_.empty()) end_text(texts_.begin()->first);
    for (auto& [source, exceptions] : exceptions_) exceptions.lose({.time = last_}, closer(source));
    writer_->finish();
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (survey_.time() == EventTime::kPositions)
      notes.emplace_back("The trace has no timestamps: the times are positions in it, in bytes.");
    if (timeless_ != 0) {
      notes.push_back(fmt::format("{} left out, because their sources have no timestamps.",
                                  counted(timeless_, "event is", "events are")));
    }
    if (writer_ && writer_->is_cut()) {
      notes.emplace_back(
          "The format holds a limited number of events, and the rest is left out; use perfetto, or "
          "select a part with --from and --to.");
    }
    return notes;
  }

 private:
  /// The source, what is on it, and its number.
  using TrackKey = std::tuple<TraceId, EventKind, std::uint32_t, std::uint32_t>;
  struct Text {
    std::string text{};
    std::uint64_t time = 0;
  };

  [[nodiscard]] std::uint64_t converted(std::uint64_t time) const {
    __extension__ using Wide = unsigned __int128;
    constexpr std::uint64_t kSecond = 1'000'000'000;
    if (!converts_) return time;
    const Wide wide = Wide{time} * kSecond / ticks_per_second_;
    return static_cast<std::uint64_t>(
        std::min<Wide>(wide, std::numeric_limits<std::uint64_t>::max()));
  }

  TimelineTrack track(const Event& event, EventKind kind, bool numbered, std::string_view name) {
    TrackKey key{event.source, kind, numbered ? event.number : 0, numbered ? event.channel : 0};
    if (tracks_.size() >= kMostTracks && !tracks_.contains(key)) key = {0, EventKind::kGap, 0, 0};
    const auto [at, is_new] = tracks_.try_emplace(key);
    if (is_new) {
      const std::string& source = names_of_sources_[event.source];
      at->second = writer_->add_track(
          fmt::format("{}, trace ID 0x{:02x}", source.empty() ? "source" : source, event.source),
          tracks_.size() > kMostTracks ? "other" : name);
    }
    return at->second;
  }

  TimelineName name(std::string text, EventKind kind) {
    if (names_.size() >= kMostNames && !names_.contains(text)) text = event_word(kind);
    const auto [at, is_new] = names_.try_emplace(std::move(text));
    if (is_new) at->second = writer_->add_name(at->first);
    return at->second;
  }

  count::ExceptionStack::Left closer(TraceId source) {
    return [this, source](const count::ExceptionStack::Handled& handled,
                          const count::ExceptionStack::Moment& end) {
      const auto open = open_slices_.find(source);
      // What was entered before the trace has no slice.
      if (open == open_slices_.end() || open->second <= handled.depth ||
          exceptions_[source].open().size() != handled.depth)
        return;
      writer_->close_slice(exception_track(source), converted(end.time));
      --open->second;
    };
  }
  TimelineTrack exception_track(TraceId source) {
    return track({.source = source}, EventKind::kExceptionEntered, false, "exceptions");
  }

  void take(const Element& element, std::uint64_t time) {
    found_.clear();
    events_of(element, found_);
    last_ = time;
    for (const Event& event : found_) show(event, time);
  }

  void instant(const Event& event, EventKind kind, bool numbered, std::string_view on,
               const std::string& text, std::uint64_t time) {
    writer_->instant(track(event, kind, numbered, on), converted(time), name(text, event.kind));
  }

  void show(const Event& event, std::uint64_t time) {
    switch (event.kind) {
      case EventKind::kExceptionEntered:
      case EventKind::kExceptionExited:
      case EventKind::kExceptionReturned:
        return show_exception(event, time);
      case EventKind::kGap:
        apply(exceptions_[event.source], event, {.time = time}, closer(event.source));
        return;
      case EventKind::kPort:
        return show_port(event, time);
      case EventKind::kDataValue:
        writer_->counter(track(event, event.kind, true, fmt::format("data {}", event.number)),
                         converted(time), static_cast<std::int64_t>(event.value));
        return;
      case EventKind::kPcSample:
        return instant(event, event.kind, false, "PC samples", fmt::format("0x{:x}", event.value),
                       time);
      case EventKind::kSleeping:
        return instant(event, EventKind::kPcSample, false, "PC samples", "asleep", time);
      case EventKind::kSoftware:
      case EventKind::kFlag:
        return instant(event, EventKind::kSoftware, true,
                       fmt::format("master {}, channel {}", event.number, event.channel),
                       event.kind == EventKind::kFlag ? "flag" : fmt::format("0x{:x}", event.value),
                       time);
      case EventKind::kTraceOn:
      case EventKind::kContext:
        return;
      default:
        return instant(event, EventKind::kEvent, false, "events",
                       fmt::format("{} {}", event_word(event.kind), event.number), time);
    }
  }

  void show_exception(const Event& event, std::uint64_t time) {
    count::ExceptionStack& exceptions = exceptions_[event.source];
    const std::size_t before = exceptions.open().size();
    apply(exceptions, event, {.time = time}, closer(event.source));
    const bool opened = event.kind == EventKind::kExceptionEntered
                            ? exceptions.open().size() > before
                            : event.kind == EventKind::kExceptionReturned &&
                                  exceptions.open().size() > open_slices_[event.source];
    if (!opened) return;
    writer_->open_slice(exception_track(event.source), converted(time),
                        name(fmt::format("exception {}", event.number), event.kind));
    ++open_slices_[event.source];
  }

  /// Single characters become lines of text.
  void show_port(const Event& event, std::uint64_t time) {
    const auto text = text_of_write(event);
    const std::string on = fmt::format("port {}", event.number);
    const std::pair key(event.source, event.number);
    if (!text) {
      end_text(key);
      return instant(event, event.kind, true, on, fmt::format("0x{:x}", event.value), time);
    }
    (void)track(event, event.kind, true, on);
    const auto [line, is_new] = texts_.try_emplace(key);
    if (is_new) line->second.time = time;
    line->second.text += *text;
    if (text->back() == '\n' || line->second.text.size() >= kLongText) end_text(key);
  }
  void end_text(std::pair<TraceId, std::uint32_t> key) {
    const auto line = texts_.find(key);
    if (line == texts_.end()) return;
    std::string text = std::move(line->second.text);
    // Times of a track must not go back, so that a line has the time of its end.
    texts_.erase(line);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    const Event event{.source = key.first, .kind = EventKind::kPort, .number = key.second};
    instant(event, event.kind, true, fmt::format("port {}", key.second), text, last_);
  }

  Make make_;
  std::uint64_t ticks_per_second_;
  TimeSurvey survey_;
  bool has_events_ = false;
  bool converts_ = false;
  std::map<TraceId, std::string> names_of_sources_;
  std::unique_ptr<TimelineWriter> writer_;
  std::optional<EventClock> clock_;
  std::map<TrackKey, TimelineTrack> tracks_;
  std::map<std::string, TimelineName> names_;
  std::map<TraceId, count::ExceptionStack> exceptions_;
  std::map<TraceId, std::size_t> open_slices_;
  std::map<std::pair<TraceId, std::uint32_t>, Text> texts_;
  std::vector<Event> found_;
  std::uint64_t last_ = 0;
  std::uint64_t timeless_ = 0;
};

}  // namespace

std::unique_ptr<EventWriter> make_event_timeline(
    std::unique_ptr<TimelineWriter> (*make)(TextBuffer& out), std::uint64_t ticks_per_second) {
  return std::make_unique<EventTimeline>(make, ticks_per_second);
}

}  // namespace waymark::exports
