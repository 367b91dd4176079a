#include "waymark/exports/event_tracks.h"

#include <fmt/format.h>

#include <algorithm>

namespace waymark::exports {
namespace {

/// Text without a line end becomes an instant of its own from this length on.
constexpr std::size_t kLongText = 160;

/// The characters of a write to a port; nothing: it is not text.
std::optional<std::string> text_of_write(const Event& event) {
  std::string text;
  for (unsigned bit = 0; bit < event.bits; bit += 8) text += static_cast<char>(event.value >> bit);
  while (text.size() > 1 && text.back() == '\0') text.pop_back();
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
  return plain ? std::optional(text) : std::nullopt;
}

}  // namespace

EventTracks::EventTracks(TimelineWriter& writer, ToNanoseconds clock,
                         std::span<const EventSource> sources, MessageText message_text)
    : writer_(writer), clock_(std::move(clock)), message_text_(std::move(message_text)) {
  for (const EventSource& source : sources) names_of_sources_[source.id] = source.name;
}

void EventTracks::finish() {
  while (!texts_.empty()) end_text(texts_.begin()->first);
  for (auto& [source, exceptions] : exceptions_) exceptions.lose({.time = last_}, closer(source));
}

std::uint64_t EventTracks::converted(std::uint64_t time) const {
  return clock_ ? clock_(time) : time;
}

TimelineTrack EventTracks::track(const Event& event, EventKind kind, bool numbered,
                                 std::string_view name) {
  TrackKey key{event.source, kind, numbered ? event.number : 0, numbered ? event.channel : 0};
  if (tracks_.size() >= kMostTracks && !tracks_.contains(key)) key = {0, EventKind::kGap, 0, 0};
  const auto [at, is_new] = tracks_.try_emplace(key);
  if (is_new) {
    const std::string& source = names_of_sources_[event.source];
    at->second = writer_.add_track(
        fmt::format("{}, trace ID 0x{:02x}", source.empty() ? "source" : source, event.source),
        tracks_.size() > kMostTracks ? "other" : name);
  }
  return at->second;
}

TimelineName EventTracks::name(std::string text, EventKind kind) {
  if (names_.size() >= kMostNames && !names_.contains(text)) {
    ++unnamed_;
    text = event_word(kind);
  }
  const auto [at, is_new] = names_.try_emplace(std::move(text));
  if (is_new) at->second = writer_.add_name(at->first);
  return at->second;
}

count::ExceptionStack::Left EventTracks::closer(TraceId source) {
  return [this, source](const count::ExceptionStack::Handled& handled,
                        const count::ExceptionStack::Moment& end) {
    const auto open = open_slices_.find(source);
    // Code entered before the trace has no slice.
    if (open == open_slices_.end() || open->second <= handled.depth ||
        exceptions_[source].open().size() != handled.depth)
      return;
    writer_.close_slice(exception_track(source), converted(end.time));
    --open->second;
  };
}
TimelineTrack EventTracks::exception_track(TraceId source) {
  return track({.source = source}, EventKind::kExceptionEntered, false, "exceptions");
}

void EventTracks::add(const Element& element, std::uint64_t time) {
  found_.clear();
  events_of(element, found_);
  last_ = time;
  for (const Event& event : found_) show(element, event, time);
}

void EventTracks::instant(const Event& event, EventKind kind, bool numbered, std::string_view on,
                          const std::string& text, std::uint64_t time) {
  writer_.instant(track(event, kind, numbered, on), converted(time), name(text, event.kind));
}

void EventTracks::show(const Element& element, const Event& event, std::uint64_t time) {
  switch (event.kind) {
    case EventKind::kExceptionEntered:
    case EventKind::kExceptionExited:
    case EventKind::kExceptionReturned:
      return show_exception(event, time);
    case EventKind::kGap:
      end_texts(event.source);
      apply(exceptions_[event.source], event, {.time = time}, closer(event.source));
      return;
    case EventKind::kPort:
      return show_port(event, time);
    case EventKind::kDataValue:
      writer_.counter(track(event, event.kind, true, fmt::format("data {}", event.number)),
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
    case EventKind::kMessage:
      return instant(event, event.kind, false, "messages",
                     message_text_ ? message_text_(element) : std::string("message"), time);
    case EventKind::kTraceOn:
    case EventKind::kContext:
      return;
    default:
      return instant(event, EventKind::kEvent, false, "events",
                     fmt::format("{} {}", event_word(event.kind), event.number), time);
  }
}

void EventTracks::show_exception(const Event& event, std::uint64_t time) {
  count::ExceptionStack& exceptions = exceptions_[event.source];
  const std::size_t before = exceptions.open().size();
  apply(exceptions, event, {.time = time}, closer(event.source));
  const bool opened = event.kind == EventKind::kExceptionEntered
                          ? exceptions.open().size() > before
                          : event.kind == EventKind::kExceptionReturned &&
                                exceptions.open().size() > open_slices_[event.source];
  if (!opened) return;
  writer_.open_slice(exception_track(event.source), converted(time),
                     name(fmt::format("exception {}", event.number), event.kind));
  ++open_slices_[event.source];
}

/// Single characters become lines of text.
void EventTracks::show_port(const Event& event, std::uint64_t time) {
  const auto text = text_of_write(event);
  const std::string on = fmt::format("port {}", event.number);
  const std::pair key(event.source, event.number);
  if (!text) {
    end_text(key);
    return instant(event, event.kind, true, on, fmt::format("0x{:x}", event.value), time);
  }
  (void)track(event, event.kind, true, on);
  std::string& line = texts_[key];
  line += *text;
  if (text->back() == '\n' || line.size() >= kLongText) end_text(key);
}
/// Text does not continue after a loss.
void EventTracks::end_texts(TraceId source) {
  auto line = texts_.lower_bound({source, 0});
  while (line != texts_.end() && line->first.first == source) end_text((line++)->first);
}
void EventTracks::end_text(std::pair<TraceId, std::uint32_t> key) {
  const auto line = texts_.find(key);
  if (line == texts_.end()) return;
  std::string text = std::move(line->second);
  // Times of a track must not go back, so that a line has the time of its end.
  texts_.erase(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const Event event{.source = key.first, .kind = EventKind::kPort, .number = key.second};
  instant(event, event.kind, true, fmt::format("port {}", key.second), text, last_);
}

}  // namespace waymark::exports
