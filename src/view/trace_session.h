// The session over a real capture: what its parts share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "builder.h"
#include "decoder_pool.h"
#include "function_table.h"
#include "waymark/view/replay.h"
#include "waymark/view/session.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

/// A part of a capture between two keyframes, by the place of the first one.
struct Interval {
  std::size_t first = 0;
  std::uint64_t bytes = 0;
};

class TraceSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> make(SessionOptions options);
  ~TraceSession() override;

  [[nodiscard]] CaptureFacts facts() const override;
  [[nodiscard]] std::vector<Track> tracks() const override;
  Result<Timeline> timeline(const Window& window, std::uint32_t width, const Stop& stop) override;
  Result<PlaceAnswer> place_at(TrackNumber track, double at, const Stop& stop) override;
  Result<PlaceAnswer> place(Instant instant, const Stop& stop) override;
  Result<PlaceAnswer> step(Instant from, const Step& step, const Stop& stop) override;
  Result<PlacesAnswer> places(Instant instant, std::uint32_t before, std::uint32_t after,
                              const Stop& stop) override;
  Result<Code> code(Instant instant, const Window& window, const Stop& stop) override;
  Result<Code> code(FunctionNumber function, const Window& window, const Stop& stop) override;
  Result<Functions> functions(const Window& window, std::uint32_t limit, const Stop& stop) override;
  Result<Neighbours> neighbours(FunctionNumber function, const Window& window,
                                const Stop& stop) override;
  Result<Flame> flame(const Window& window, std::uint32_t limit, const Stop& stop) override;
  Result<Measure> measure(const Window& window, const Stop& stop) override;
  Result<Hits> find(const Query& query, const Stop& stop) override;
  Result<std::vector<HealthFinding>> health(const Stop& stop) override;

 private:
  explicit TraceSession(SessionOptions options);
  Result<void> open();
  void work();
  void publish(bool tree);
  [[nodiscard]] std::shared_ptr<const Known> known() const;
  /// The intervals in which something happened in a part of the axis.
  [[nodiscard]] std::vector<Interval> intervals(const Known& known, double from, double to) const;
  Result<std::shared_ptr<const Piece>> piece(const Known& known, const Interval& interval,
                                             std::optional<DecoderPool::Loan>& loan,
                                             const Stop& stop);

  SessionOptions options_;
  DecoderPool pool_;
  PieceCache cache_;
  FunctionTable functions_;
  CodeList codes_;
  AxisChoice axis_{};
  CaptureFacts facts_{};      ///< What does not change.
  std::vector<TraceId> ids_;  ///< The sources, in the order of the capture.
  std::unique_ptr<PartDecoder> reader_;
  std::unique_ptr<Builder> builder_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_;
  std::uint64_t tree_bytes_ = 0;  ///< How much of the trace the tree of `known_` has.
  std::string failure_{};         ///< Why reading has ended early.
  std::atomic<bool> ending_ = false;
  std::thread worker_;
};

}  // namespace waymark::view
