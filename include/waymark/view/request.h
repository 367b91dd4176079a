// The request of a client of the server: the target of an HTTP request as a question with a type.
// docs/view_api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "waymark/view/answers.h"

namespace waymark::view {

/// A longer target is refused.
inline constexpr std::size_t kLongestTarget = 8192;
/// In bytes: what `find` looks for, and the key of `cancel`.
inline constexpr std::size_t kLongestText = 1024;
inline constexpr std::size_t kLongestKey = 64;
inline constexpr std::uint32_t kWidestPicture = 8192;
inline constexpr std::uint32_t kMostTracks = 4096;
inline constexpr std::uint32_t kMostPlaces = 512;
inline constexpr std::uint32_t kMostRows = 10'000;
inline constexpr std::uint32_t kMostNodes = 100'000;
inline constexpr std::uint32_t kMostSteps = 1'000'000;

/// A part of the axis as it is asked for; nothing: from its start, or up to what is known so far.
struct AskedWindow {
  std::optional<double> from{};
  std::optional<double> to{};
  std::vector<TrackNumber> tracks{};
};

struct CaptureQuestion {};
struct TracksQuestion {};
struct HealthQuestion {};

struct TimelineQuestion {
  AskedWindow window{};
  std::uint32_t width = 0;
  bool binary = false;
};

/// A place of a thread's track.
struct TrackPlace {
  TrackNumber track = 0;
  double at = 0;
};

struct PlaceQuestion {
  std::variant<Instant, TrackPlace> place{};
};

struct PlacesQuestion {
  Instant instant{};
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

struct StepQuestion {
  Instant from{};
  Step step{};
};

struct CodeQuestion {
  std::variant<Instant, FunctionNumber> code{};
  AskedWindow window{};
};

struct FunctionsQuestion {
  AskedWindow window{};
  std::uint32_t limit = 0;
};

struct NeighboursQuestion {
  FunctionNumber function = 0;
  AskedWindow window{};
};

struct FlameQuestion {
  AskedWindow window{};
  std::uint32_t limit = 0;
};

struct MeasureQuestion {
  AskedWindow window{};
};

struct FindQuestion {
  Query query{};  ///< Without its window.
  AskedWindow window{};
};

using Question =
    std::variant<CaptureQuestion, TracksQuestion, HealthQuestion, TimelineQuestion, PlaceQuestion,
                 PlacesQuestion, StepQuestion, CodeQuestion, FunctionsQuestion, NeighboursQuestion,
                 FlameQuestion, MeasureQuestion, FindQuestion>;

/// A file of the page; empty: the page itself.
struct PageRequest {
  std::string name{};
};

struct Request {
  std::variant<PageRequest, Question> what{};
  /// A newer request with the same key stops this one; empty: nothing does.
  std::string cancel{};
};

/// Why a request is refused: the HTTP status code, and a message for the user.
struct Refusal {
  int status = 400;
  std::string sentence{};
};

/// Reads the target of a request: `/TOKEN/FILE` or `/TOKEN/api/1/NAME?PARAMETERS`.  Pure.
std::expected<Request, Refusal> parse_target(std::string_view target, std::string_view token);

/// Reads what comes after `/TOKEN/api/1/`.
std::expected<Request, Refusal> parse_question(std::string_view text);

/// Whether they are equal, in a time that depends only on their lengths.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace waymark::view
