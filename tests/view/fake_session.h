// A session that answers from fields, so that a test says what there is.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "waymark/view/session.h"

namespace waymark::view {

class FakeSession : public Session {
 public:
  CaptureFacts capture{.name = "board",
                       .path = "/captures/board",
                       .kind = "snapshot",
                       .bytes = 1000,
                       .axis = {.unit = AxisUnit::kTicks, .origin = 5, .length = 100},
                       .stage = Stage::kReady,
                       .done = 1000};
  std::vector<Track> all_tracks{
      {.number = 0, .kind = TrackKind::kThread, .source = 0x10, .name = "core 0", .last = 100},
      {.number = 1, .kind = TrackKind::kMessages, .source = 0x20, .name = "STM", .last = 100},
      {.number = 2, .kind = TrackKind::kCounter, .source = 0x10, .name = "instructions"}};
  Timeline picture{};
  Hits found{};
  Functions sums{};
  Window asked{};                      ///< By the last question with a window.
  std::atomic<int> measured = 0;       ///< Questions about measures that were begun.
  std::atomic<int> stopped = 0;        ///< Those that ended before their time.
  std::chrono::milliseconds delay{0};  ///< Of measures.
  Error error{ErrorCode::kNotFound, "There is no function 7."};

  [[nodiscard]] CaptureFacts facts() const override { return capture; }
  [[nodiscard]] std::vector<Track> tracks() const override { return all_tracks; }
  Result<Timeline> timeline(const Window& window, std::uint32_t /*width*/,
                            const Stop& /*stop*/) override {
    asked = window;
    return picture;
  }
  Result<PlaceAnswer> place_at(TrackNumber track, double at, const Stop& /*stop*/) override {
    PlaceAnswer answer;
    answer.place.track = track;
    answer.place.at = at;
    return answer;
  }
  Result<PlaceAnswer> place(Instant instant, const Stop& /*stop*/) override {
    PlaceAnswer answer;
    answer.place.instant = instant;
    return answer;
  }
  Result<PlaceAnswer> step(Instant from, const Step& step, const Stop& /*stop*/) override {
    PlaceAnswer answer;
    answer.place.instant = from;
    if (step.back) {
      answer.place.instant.n -= step.count;
    } else {
      answer.place.instant.n += step.count;
    }
    return answer;
  }
  Result<PlacesAnswer> places(Instant instant, std::uint32_t before, std::uint32_t after,
                              const Stop& /*stop*/) override {
    PlacesAnswer answer;
    for (std::uint64_t n = instant.n - before; n <= instant.n + after; ++n) {
      Place place;
      place.instant = {.source = instant.source, .n = n};
      answer.places.push_back(place);
    }
    return answer;
  }
  Result<Code> code(Instant /*instant*/, const Window& /*window*/, const Stop& /*stop*/) override {
    return Code{};
  }
  Result<Code> code(FunctionNumber /*function*/, const Window& /*window*/,
                    const Stop& /*stop*/) override {
    return std::unexpected(error);
  }
  Result<Functions> functions(const Window& window, std::uint32_t /*limit*/,
                              const Stop& /*stop*/) override {
    asked = window;
    return sums;
  }
  Result<Neighbours> neighbours(FunctionNumber /*function*/, const Window& /*window*/,
                                const Stop& /*stop*/) override {
    return Neighbours{};
  }
  Result<Flame> flame(const Window& /*window*/, std::uint32_t /*limit*/,
                      const Stop& /*stop*/) override {
    return Flame{};
  }
  Result<Measure> measure(const Window& /*window*/, const Stop& stop) override {
    ++measured;
    const auto end = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < end) {
      if (stop()) {
        ++stopped;
        return fail(ErrorCode::kLimit, "The question was stopped.");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Measure{};
  }
  Result<Hits> find(const Query& /*query*/, const Stop& /*stop*/) override { return found; }
  Result<std::vector<HealthFinding>> health(const Stop& /*stop*/) override {
    return std::vector<HealthFinding>();
  }
};

}  // namespace waymark::view
