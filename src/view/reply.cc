#include "waymark/view/reply.h"

#include <fmt/format.h>

#include <utility>

#include "waymark/view/json.h"

namespace waymark::view {
namespace {

Reply json(const TextBuffer& text) { return {.body = std::string(text.view())}; }

/// An answer that write_json() writes alone.
template <class T>
Result<Reply> written(const Result<T>& answer) {
  if (!answer) return std::unexpected(answer.error());
  TextBuffer text;
  write_json(text, *answer);
  return json(text);
}

/// Gives each question to the session.
class Asker {
 public:
  Asker(Session& session, std::string_view version, const Stop& stop)
      : session_(session), version_(version), stop_(stop) {}

  Result<Reply> operator()(const CaptureQuestion& /*question*/) {
    TextBuffer text;
    write_json(text, session_.facts(), version_);
    return json(text);
  }
  Result<Reply> operator()(const TracksQuestion& /*question*/) {
    TextBuffer text;
    write_json(text, session_.tracks());
    return json(text);
  }
  Result<Reply> operator()(const HealthQuestion& /*question*/) {
    return written(session_.health(stop_));
  }

  Result<Reply> operator()(const TimelineQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    const auto timeline = session_.timeline(*window, question.width, stop_);
    if (!timeline) return std::unexpected(timeline.error());
    // After the picture, so that every track of it is known.
    const std::vector<Track> tracks = session_.tracks();
    if (question.binary) {
      return Reply{.type = "application/octet-stream", .body = binary_timeline(*timeline, tracks)};
    }
    TextBuffer text;
    write_json(text, *timeline, tracks);
    return json(text);
  }

  Result<Reply> operator()(const PlaceQuestion& question) {
    if (const auto* instant = std::get_if<Instant>(&question.place))
      return written(session_.place(*instant, stop_));
    const auto& place = std::get<TrackPlace>(question.place);
    return written(session_.place_at(place.track, place.at, stop_));
  }
  Result<Reply> operator()(const PlacesQuestion& question) {
    return written(session_.places(question.instant, question.before, question.after, stop_));
  }
  Result<Reply> operator()(const StepQuestion& question) {
    return written(session_.step(question.from, question.step, stop_));
  }

  Result<Reply> operator()(const CodeQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    if (const auto* instant = std::get_if<Instant>(&question.code))
      return written(session_.code(*instant, *window, stop_));
    return written(session_.code(std::get<FunctionNumber>(question.code), *window, stop_));
  }
  Result<Reply> operator()(const FunctionsQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    return written(session_.functions(*window, question.limit, stop_));
  }
  Result<Reply> operator()(const NeighboursQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    return written(session_.neighbours(question.function, *window, stop_));
  }
  Result<Reply> operator()(const FlameQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    return written(session_.flame(*window, question.limit, stop_));
  }

  Result<Reply> operator()(const MeasureQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    const auto measure = session_.measure(*window, stop_);
    if (!measure) return std::unexpected(measure.error());
    TextBuffer text;
    write_json(text, *measure, window->to - window->from);
    return json(text);
  }

  Result<Reply> operator()(const FindQuestion& question) {
    const auto window = whole(question.window);
    if (!window) return std::unexpected(window.error());
    Query query = question.query;
    query.from = window->from;
    query.to = window->to;
    return written(session_.find(query, stop_));
  }

 private:
  /// Open ends become those of the axis.
  Result<Window> whole(const AskedWindow& asked) const {
    Window window{.from = asked.from.value_or(0), .to = 0, .tracks = asked.tracks};
    window.to = asked.to ? *asked.to : session_.facts().axis.length;
    if (window.from > window.to || (window.from == window.to && window.from > 0)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("from is {}, but the trace ends at {} so far.", window.from, window.to));
    }
    return window;
  }

  Session& session_;
  std::string_view version_;
  const Stop& stop_;
};

}  // namespace

Result<Reply> reply_to(Session& session, const Question& question, std::string_view version,
                       const Stop& stop) {
  return std::visit(Asker(session, version, stop), question);
}

}  // namespace waymark::view
