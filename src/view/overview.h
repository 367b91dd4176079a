// The activity of each track in the whole capture, in few numbers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "waymark/view/answers.h"

namespace waymark::view {

/// The numbers of tracks, which do not depend on what was decoded first.
constexpr TrackNumber kMessageTracks = 0x1000'0000;
constexpr TrackNumber kEventTracks = 0x2000'0000;
constexpr TrackNumber kInstructionTracks = 0x3000'0000;
constexpr TrackNumber kCycleTracks = 0x4000'0000;
/// The track of a source for all of it, one of the four above; a thread has the number that its
/// engine gave.
constexpr TrackNumber source_track(TrackNumber kind, TraceId id) { return kind + id; }
constexpr bool is_thread_track(TrackNumber number) { return number < kMessageTracks; }

/// The functions with the most instructions.  When there is no room for one more, it takes the
/// place of the smallest, with its count, so that no large one is lost.
class TopFunctions {
 public:
  static constexpr std::size_t kMost = 16;
  struct Entry {
    FunctionNumber function = 0;
    std::uint32_t count = 0;
  };

  void add(FunctionNumber function, std::uint64_t count);
  void add(const TopFunctions& other);
  /// The largest first.
  [[nodiscard]] std::vector<Entry> sorted() const;
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  std::array<Entry, kMost> entries_{};
  std::uint8_t size_ = 0;
};

/// A part of the axis: `number` times the width of buckets.
struct OverviewBucket {
  std::uint64_t number = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint32_t depth = 0;
  std::uint32_t exceptions = 0;
  std::uint32_t messages = 0;
  double gaps = 0;  ///< How much of the axis they cover.
  TopFunctions functions{};

  void add(const OverviewBucket& other);
};

struct OverviewTrack {
  TraceId source = 0;
  std::uint64_t thread = 0;
  double first = 0;
  double last = 0;
  std::uint32_t depth = 0;
  std::vector<OverviewBucket> buckets{};  ///< Ascending; empty ones are left out.
  /// Of messages and events: at most kMostMarks, each of which may stand for several.
  std::vector<Mark> marks{};

  static constexpr std::size_t kMostMarks = 4096;
  void add(Mark mark);
  /// Each pair of marks becomes one.
  void join_marks();
};

/// A value.  Bounded: when there are too many buckets, all become twice as wide.
class Overview {
 public:
  static constexpr std::uint64_t kMostNumbers = 4096;                ///< The most that a track has.
  static constexpr std::size_t kMostBuckets = std::size_t{1} << 16;  ///< Of all tracks.

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] const std::map<TrackNumber, OverviewTrack>& tracks() const { return tracks_; }
  OverviewTrack& track(TrackNumber number) { return tracks_[number]; }
  /// The last value of the axis.
  [[nodiscard]] double length() const { return length_; }
  void reach(double t) { length_ = t > length_ ? t : length_; }

  /// Counts that are spread over a part of the axis.
  struct Part {
    double from = 0;
    double to = 0;
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;
    FunctionNumber function = 0;
    std::uint32_t depth = 0;
    bool is_gap = false;
    std::uint32_t exceptions = 0;
    std::uint32_t messages = 0;
  };
  /// Parts of a track come in the order of time.
  void add(TrackNumber number, const Part& part);

  /// Buckets become twice as wide, and marks half as many.  False: there are few already.
  bool coarsen();
  /// For those who read it from a file: before anything is added.
  void set_width(double width) { width_ = width; }

 private:
  OverviewBucket& bucket(OverviewTrack& track, std::uint64_t number);
  void widen();

  double width_ = 1.0 / 64;
  double length_ = 0;
  std::size_t buckets_ = 0;
  std::map<TrackNumber, OverviewTrack> tracks_;
};

}  // namespace waymark::view
