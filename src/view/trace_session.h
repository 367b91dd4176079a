// The session over a real capture: what its parts share.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "call_questions.h"
#include "decoder_pool.h"
#include "function_table.h"
#include "health.h"
#include "knowledge.h"
#include "reading.h"
#include "real_replay.h"
#include "waymark/inputs/code_memory.h"
#include "waymark/outputs/instructions.h"
#include "waymark/view/replay.h"
#include "waymark/view/session.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

/// A part of a capture between two keyframes, by the place of the first one.
struct Interval {
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  /// The sources that have elements in it and in the window stand still: all that they have are
  /// frames without an instruction.
  bool is_still = false;
};

class TraceSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> make(SessionOptions options);

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
  /// The intervals in which something happened in a part of the axis.
  [[nodiscard]] std::vector<Interval> intervals(const Known& known, double from, double to) const;
  Result<std::shared_ptr<const Piece>> piece(DecoderPool& pool, const Known& known,
                                             const Interval& interval,
                                             std::optional<DecoderPool::Loan>& loan,
                                             const Stop& stop);
  /// Those of `intervals`, in their order.  Several threads make them, as far as decoders are free.
  Result<std::vector<std::shared_ptr<const Piece>>> pieces(DecoderPool& pool, const Known& known,
                                                           std::span<const Interval> intervals,
                                                           const Stop& stop);

  Result<void> make_knowledge();
  [[nodiscard]] TrackNumber track_of(TraceId source, std::uint64_t thread) const;
  Result<MessagesFound> messages(double from, double to, const Stop& stop);
  /// Asks `question` with a replay of a decoder that is free.
  template <class Answer>
  Result<Answer> ask(const Stop& stop,
                     const std::function<Result<Answer>(RealReplay& replay)>& question);
  /// The execution of a window; kept, because several questions about one window follow one
  /// another.
  Result<std::shared_ptr<const WindowCalls>> calls(const Window& window, const Stop& stop);
  Result<WindowCalls> make_calls(const std::shared_ptr<const Known>& known, const Window& window,
                                 const Stop& stop);
  /// The last instruction of a thread at a place.
  Result<Instant> instant_at(RealReplay& replay, TrackNumber track, double at, const Stop& stop);

  SessionOptions options_;
  /// Each kind of user waits only for its own.
  struct Pools {
    DecoderPool questions;
    DecoderPool pictures;  ///< They must follow the hand of the user.
    DecoderPool messages;  ///< A question asks for them that has a decoder already.
  };
  StateCache states_;
  Pools pools_;
  PieceCache cache_;
  FunctionTable functions_;
  CodeList codes_;
  Reading reading_;
  CaptureFacts facts_{};      ///< What does not change.
  std::vector<TraceId> ids_;  ///< The sources, in the order of the capture.
  std::unique_ptr<inputs::CodeMemory> memory_;
  std::unique_ptr<outputs::InstructionPool> instructions_;
  Knowledge knowledge_{};
  Problems problems_;
  struct KeptCalls {
    std::shared_ptr<const Known> known;
    Window window;
    std::shared_ptr<const WindowCalls> calls;
  };
  std::mutex calls_mutex_;
  std::deque<KeptCalls> kept_calls_;  ///< The newest last.
};

}  // namespace waymark::view
