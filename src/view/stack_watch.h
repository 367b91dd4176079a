// The stacks of a replay, as what happens on them says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/stacks/sink.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// Keeps the stacks of all tracks.  One owner; not thread safe.
class StackWatch final : public stacks::Sink {
 public:
  /// Whether a frame has executed what a step looks for.
  enum class Seen : std::uint8_t { kNone, kThere, kLeft };

  struct Frame {
    stacks::CodeId code = 0;
    std::uint64_t call_address = 0;  ///< 0: not known.
    Seen mark = Seen::kNone;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {
    TraceId source = 0;
    std::uint64_t thread = 0;
    std::vector<Frame> frames{};  ///< The outermost first.
    Frame below{};                ///< What executes without a frame.
  };

  /// Called for each frame that is entered after begin(), when it is on its stack.
  std::function<void(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                     stacks::Opening opening)>
      on_entered{};

  /// The replay begins: the frames that are open are known.
  void begin(const stacks::Engine& engine);
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] std::vector<Stack>& stacks() { return stacks_; }

  /// The engine is about to get this element.
  void expect(const Element& element);

  /// The stack that a source executes; nullptr: not known yet.
  [[nodiscard]] Stack* running(TraceId source);
  [[nodiscard]] stacks::TrackId running_track(TraceId source) const { return running_[source]; }
  [[nodiscard]] const Stack& stack(stacks::TrackId track) const { return stacks_[track]; }

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override;
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override;
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId track, std::uint64_t position) override;
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override;
  void on_gap(TraceId source, std::uint64_t position) override;
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override;
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override;

 private:
  /// The last instructions of the last two ranges of a source.
  struct Calls {
    std::uint64_t now = 0;
    std::uint64_t before = 0;
  };

  static constexpr stacks::TrackId kNoTrack = ~stacks::TrackId{0};

  bool begun_ = false;
  std::vector<Stack> stacks_;
  std::vector<stacks::TrackId> running_ = std::vector<stacks::TrackId>(256, kNoTrack);
  std::array<Calls, 256> calls_{};
};

/// Runs a replay.  Gives each element after the engine has it, so that the stacks are those of its
/// instructions.  One owner; not thread safe.
class SettledRun {
 public:
  /// As Replay::Take.
  using Visit = std::function<bool(const Element& element, std::uint64_t n)>;

  explicit SettledRun(Replay& replay) : replay_(replay) {}

  [[nodiscard]] StackWatch& watch() { return watch_; }

  /// Called before the first element.
  std::function<void(const Element& element)> on_begin{};

  /// The sink of `range` is set here.
  Result<void> run(ReplayRange range, const Visit& visit, const Stop& stop);

  /// The offsets in the trace of the first and the last element of the run.
  [[nodiscard]] TraceIndex first_index() const { return first_index_; }
  [[nodiscard]] TraceIndex last_index() const { return last_index_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return last_index_ > first_index_ ? last_index_ - first_index_ : 0;
  }

 private:
  Replay& replay_;
  StackWatch watch_;
  TraceIndex first_index_ = 0;
  TraceIndex last_index_ = 0;
};

}  // namespace waymark::view
