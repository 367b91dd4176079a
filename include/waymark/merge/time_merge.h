// Merges several sources into one view, ordered by time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "waymark/merge/timeline.h"

namespace waymark::merge {

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on_record(const TimedRecord& record) = 0;
};

/// Takes the elements of any number of sources, each in its own order, and gives them in order of
/// time.  The order within a source never changes; equal times keep the order of trace IDs.  All
/// sources must take their timestamps from one generator, as the CoreSight sources of a chip do.
///
/// A record is given once every source is known to be past it.  If one source gives no time for
/// long, the others wait for it: at most kMaxHeld records.  Beyond that the oldest are given, and
/// late() counts the records that come too late for their place.  One owner; not thread safe.
class TimeMerge {
 public:
  static constexpr std::size_t kMaxHeld = std::size_t{1} << 20;

  /// `ids`: the sources that will give elements.
  TimeMerge(const std::vector<TraceId>& ids, RecordSink& sink);

  /// Elements and records of other IDs are given at once, without a time.
  void add(const Element& element);
  void add(const Diagnostic& damage);

  /// The end of the trace: everything that is held is given.
  void finish();

  /// The number of records that come after later ones.
  [[nodiscard]] std::uint64_t late() const { return late_; }
  /// Sources whose timestamps went back.
  struct Backwards {
    TraceId id = 0;
    std::uint64_t count = 0;  ///< Timestamps less than the greatest before them.
    TraceIndex first = 0;     ///< The index of the first of them.
  };
  [[nodiscard]] std::vector<Backwards> backwards() const;
  /// Sources that never gave a time; their records come last.
  [[nodiscard]] std::vector<TraceId> timeless() const;

 private:
  static constexpr std::uint8_t kNone = 0xFF;

  void give(bool all);
  void give_front(Timeline& timeline);

  RecordSink& sink_;
  std::vector<TraceId> ids_;
  std::vector<Timeline> lines_;
  std::array<std::uint8_t, 256> line_of_{};
  std::vector<bool> timed_;
  std::uint64_t given_time_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace waymark::merge
