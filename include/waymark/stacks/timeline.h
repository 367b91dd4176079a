// Times for what happens on stacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "waymark/stacks/sink.h"

namespace waymark::stacks {

/// The unit of a time.
enum class TimeUnit : std::uint8_t {
  kTimestamps,    ///< Ticks of the timestamp generator.
  kCycles,        ///< Cycles that the source counted.
  kInstructions,  ///< Instructions that the source executed.
};

/// "ticks of the timestamp generator", "cycles", "instructions".
std::string_view words_of(TimeUnit unit);

/// Takes events with their times.  Frames of a track nest, and the times of a track never decrease;
/// those of different sources come in any order.
class TimedSink {
 public:
  virtual ~TimedSink() = default;
  /// Comes before everything else.
  virtual void on_unit(TimeUnit unit) = 0;
  virtual void on_track(TrackId track, TraceId source, std::uint64_t thread) = 0;
  virtual void on_enter(TrackId track, std::uint64_t time, CodeId code, Opening opening) = 0;
  virtual void on_leave(TrackId track, std::uint64_t time) = 0;
  virtual void on_instant(TrackId track, std::uint64_t time, Instant what) = 0;
  /// The instructions that the track has executed before the next of these three events.
  virtual void on_instructions(TrackId /*track*/, std::uint64_t /*before*/) {}
};

/// Gives events their times.
///
/// The time between two timestamps, or cycle counts, is distributed by the instructions between
/// them, also if there is a gap: nothing says how long it was.  If a timestamp comes at the end of
/// the gap, before any instruction, the gap is known: what came before it has the time of the last
/// timestamp.  Events before the first timestamp have its time, and those after the last one have
/// that of the last one.  Timestamps that go back do not count; if the next ones go back too, the
/// clock was set, and time goes on from where it was.
///
/// Events wait for the next timestamp of their source, at most kMaxWaiting of them; beyond that
/// they have the time of the last one.  One owner; not thread safe.
class Timeline final : public Sink {
 public:
  static constexpr std::size_t kMaxWaiting = std::size_t{1} << 18;

  enum class Choice : std::uint8_t {
    kBest,  ///< Timestamps if there are any near the start, else cycles, else instructions.
    kTimestamps,
    kCycles,
    kInstructions,
  };
  struct Options {
    Choice unit = Choice::kBest;
    /// With instructions: each track counts only its own.
    bool tracks_apart = false;
  };

  Timeline(TimedSink& sink, const Options& options);

  /// All events have come.
  void finish();

  /// Sources with events that had no time at all, which were left out.
  [[nodiscard]] std::vector<TraceId> timeless() const;
  /// Timestamps that were less than one before them.
  [[nodiscard]] std::uint64_t backwards() const { return backwards_; }

  void on_track(TrackId track, TraceId source, std::uint64_t thread) override;
  void on_switch(TraceId source, TrackId track, std::uint64_t position) override;
  void on_enter(TrackId track, std::uint64_t position, CodeId code, Opening opening) override;
  void on_leave(TrackId track, std::uint64_t position) override;
  void on_instant(TrackId track, std::uint64_t position, Instant what) override;
  void on_gap(TraceId source, std::uint64_t position) override;
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override;
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override;

 private:
  enum class Kind : std::uint8_t { kEnter, kLeave, kInstant, kGap, kTimestamp, kCycles, kTrack };
  struct Event {
    std::uint64_t position = 0;
    std::uint64_t own = 0;    ///< The position of the track alone.
    std::uint64_t value = 0;  ///< Code; Instant; time; cycles; thread.
    TrackId track = 0;
    TraceId source = 0;
    Kind kind = Kind::kGap;
    Opening opening = Opening::kCall;
  };
  struct Track {
    TraceId source = 0;
    std::uint64_t before = 0;  ///< Instructions before it was switched to.
  };
  struct Clock {
    std::vector<Event> waiting{};
    std::uint64_t position = 0;  ///< That of the last anchor,
    std::uint64_t time = 0;      ///< and its time, which never decreases.
    bool is_set = false;
    bool is_after_gap = false;   ///< There was a gap since the last anchor,
    std::uint64_t gap = 0;       ///< and the last one was at this position.
    std::size_t before_gap = 0;  ///< How many of `waiting` came before it.
    std::uint64_t last = 0;      ///< The last timestamp as it was traced.
    std::uint64_t shift = 0;     ///< What is added to timestamps, modulo 2^64.
    std::uint64_t below = 0;     ///< A timestamp that went back.
    bool has_below = false;
    bool left_out = false;
    TrackId active = 0;
    std::uint64_t active_from = 0;  ///< The position at which `active` went on.
  };

  void take(Event event);
  void take_decided(const Event& event);
  void decide();
  void anchor(Clock& clock, std::uint64_t position, std::uint64_t time);
  void give(const Event& event, std::uint64_t time);
  void hold(Clock& clock, const Event& event);
  [[nodiscard]] std::uint64_t own_position(const Event& event) const;

  TimedSink& sink_;
  Options options_;
  bool decided_ = false;
  TimeUnit unit_ = TimeUnit::kInstructions;
  bool saw_cycles_ = false;
  std::vector<Event> undecided_;
  std::vector<Track> tracks_;
  std::array<Clock, 256> clocks_;
  std::uint64_t backwards_ = 0;
};

}  // namespace waymark::stacks
