// A trace that a viewer looks at.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// Asked from time to time while an answer is made.  True: the client has left, or waited too long.
using Stop = std::function<bool()>;

/// Answers the questions of a viewer.  Any number of threads may ask at the same time.
///
/// Errors of all functions: kInvalidArgument and kNotFound for a question that has no answer, with
/// a sentence for the user; kLimit after `stop` said so, or if too many questions are being
/// answered; those of the input.
class Session {
 public:
  virtual ~Session() = default;
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] virtual CaptureFacts facts() const = 0;
  [[nodiscard]] virtual std::vector<Track> tracks() const = 0;

  /// The picture to draw at `width` pixels.
  virtual Result<Timeline> timeline(const Window& window, std::uint32_t width,
                                    const Stop& stop) = 0;

  /// The last instruction of a thread's track that began at `at` or earlier.
  virtual Result<PlaceAnswer> place_at(TrackNumber track, double at, const Stop& stop) = 0;
  virtual Result<PlaceAnswer> place(Instant instant, const Stop& stop) = 0;
  virtual Result<PlaceAnswer> step(Instant from, const Step& step, const Stop& stop) = 0;
  /// `before` instructions before `instant`, it, and `after` after it; fewer at the ends.
  virtual Result<PlacesAnswer> places(Instant instant, std::uint32_t before, std::uint32_t after,
                                      const Stop& stop) = 0;

  /// The function in which the instruction is.
  virtual Result<Code> code(Instant instant, const Window& window, const Stop& stop) = 0;
  virtual Result<Code> code(FunctionNumber function, const Window& window, const Stop& stop) = 0;

  virtual Result<Functions> functions(const Window& window, std::uint32_t limit,
                                      const Stop& stop) = 0;
  virtual Result<Neighbours> neighbours(FunctionNumber function, const Window& window,
                                        const Stop& stop) = 0;
  /// At most `limit` nodes.
  virtual Result<Flame> flame(const Window& window, std::uint32_t limit, const Stop& stop) = 0;
  virtual Result<Measure> measure(const Window& window, const Stop& stop) = 0;

  virtual Result<Hits> find(const Query& query, const Stop& stop) = 0;
  virtual Result<std::vector<HealthFinding>> health(const Stop& stop) = 0;
};

}  // namespace waymark::view
