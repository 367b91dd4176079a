// Targets of requests to the viewer.  Invariants: a wrong token is refused whatever follows; what
// is accepted is within its limits, and the same when it is read again; a refusal is one short
// sentence, which is text in JSON and in HTML.
#include <cmath>
#include <string>

#include "require.h"
#include "waymark/view/json.h"
#include "waymark/view/request.h"

namespace {

using namespace waymark;
using namespace waymark::view;
using fuzz::require;

void check(const AskedWindow& window) {
  for (const auto& end : {window.from, window.to})
    require(!end || (std::isfinite(*end) && *end >= 0), "an end that is not a place");
  require(!window.from || !window.to || *window.from < *window.to, "a window without a length");
  require(window.tracks.size() <= kMostTracks, "too many tracks");
}

struct Checker {
  void operator()(const CaptureQuestion& /*question*/) {}
  void operator()(const TracksQuestion& /*question*/) {}
  void operator()(const HealthQuestion& /*question*/) {}
  void operator()(const TimelineQuestion& question) {
    check(question.window);
    require(question.width > 0 && question.width <= kWidestPicture, "width");
  }
  void operator()(const PlaceQuestion& question) {
    if (const auto* place = std::get_if<TrackPlace>(&question.place))
      require(std::isfinite(place->at) && place->at >= 0, "not a place");
  }
  void operator()(const PlacesQuestion& question) {
    require(question.before <= kMostPlaces && question.after <= kMostPlaces, "places");
  }
  void operator()(const StepQuestion& question) {
    require(question.step.kind <= StepKind::kMessage, "kind of a step");
    require(question.step.count > 0 && question.step.count <= kMostSteps, "steps");
  }
  void operator()(const CodeQuestion& question) { check(question.window); }
  void operator()(const FunctionsQuestion& question) {
    check(question.window);
    require(question.limit > 0 && question.limit <= kMostRows, "rows");
  }
  void operator()(const NeighboursQuestion& question) { check(question.window); }
  void operator()(const FlameQuestion& question) {
    check(question.window);
    require(question.limit > 0 && question.limit <= kMostNodes, "nodes");
  }
  void operator()(const MeasureQuestion& question) { check(question.window); }
  void operator()(const FindQuestion& question) {
    check(question.window);
    require(question.query.what <= FindWhat::kTime, "what to find");
    require(!question.query.text.empty() && question.query.text.size() <= kLongestText, "text");
    require(question.query.limit > 0 && question.query.limit <= kMostRows, "hits");
  }
};

void check(const Refusal& refusal) {
  require(refusal.status >= 400 && refusal.status < 500, "status of a refusal");
  require(refusal.sentence.size() < 400, "a long sentence");
  TextBuffer text;
  write_error(text, refusal.sentence);
  for (const char c : text.view())
    require(static_cast<unsigned char>(c) >= 0x20 && c != '<', "not text everywhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string token = "0123456789abcdef0123456789abcdef";
  const auto bare = parse_target(text, token);
  if (!bare) check(bare.error());
  require(!bare || text.starts_with("/" + token + "/"), "accepted without the token");
  const auto request = parse_question(text);
  const auto again = parse_target("/" + token + "/api/1/" + std::string(text), token);
  if (!request) {
    check(request.error());
    require(!again, "the place of a question makes a difference");
    return 0;
  }
  require(request->cancel.size() <= kLongestKey, "key");
  std::visit(Checker(), std::get<Question>(request->what));
  require(again || text.size() > kLongestTarget - 64, "not accepted again");
  return 0;
}
