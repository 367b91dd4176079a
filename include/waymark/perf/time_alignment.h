// At which places of the trace the events of a recording happened, by the timestamps in the trace.
// See perf-cs-etm.md 9.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "waymark/perf/recording.h"

namespace waymark::perf {

/// Code executed from `from` on, up to the next such place or to the end of its piece, was
/// executed at about `time`.
struct TimedPlace {
  TraceIndex from = 0;
  std::uint64_t time = 0;  ///< ns of the recording's clock.
  friend bool operator==(const TimedPlace&, const TimedPlace&) = default;
};

/// By trace ID, in ascending order.
using TraceTimes = std::map<TraceId, std::vector<TimedPlace>>;

/// Makes TraceTimes of the timestamps of each trace ID, piece by piece.  One owner; not thread
/// safe.
///
/// A timestamp says when what was executed before it was executed, and the code after it belongs to
/// the next timestamp.  So a mapping whose time is between two timestamps holds for the code
/// between them: code that was mapped there cannot have been executed earlier, and the thread that
/// maps it comes back from the kernel in this interval.  Where that is visible, because tracing
/// started or the context changed between the two timestamps, the mapping holds from the last such
/// place on. The code before the first timestamp of a piece belongs to that one, and the code after
/// the last one to the last.
///
/// Only places at which something happened are kept.
class TimeAlignment {
 public:
  /// `recording` must outlive the object.
  explicit TimeAlignment(const Recording& recording);

  /// Whether something happened between the piece and the one before it of the same buffer, so that
  /// its timestamps matter.  Ask for all pieces, in the order of decoding.
  [[nodiscard]] bool matters(const Piece& piece);

  /// The timestamps that follow are of this piece, which is decoded from `begin` on.
  void begin_piece(const Piece& piece, TraceIndex begin);
  /// A timestamp in the trace of a unit; `whole`: all its bits are in this packet.
  void on_timestamp(const Unit& unit, TraceIndex index, std::uint64_t cycles, bool whole);
  /// Tracing started, or the context was stated.
  void on_break(const Unit& unit, TraceIndex index);

  [[nodiscard]] TraceTimes take() { return std::move(times_); }
  /// Pieces with timestamps after the time of their AUX record: these are not from the counter that
  /// the recording's clock uses, and are not used.
  [[nodiscard]] std::size_t implausible() const { return implausible_; }

 private:
  /// The trace of one unit in the current piece.
  struct Line {
    std::optional<std::uint64_t> time{};  ///< That of the last timestamp.
    TraceIndex index = 0;                 ///< The same.
    std::optional<TraceIndex> last_break{};
    bool whole = false;       ///< All bits of the time are known.
    std::size_t kept = 0;     ///< The number of places of earlier pieces.
    bool is_refused = false;  ///< A timestamp is implausible.
  };

  [[nodiscard]] bool happened(std::uint32_t cpu, std::uint64_t after, std::uint64_t until) const;

  const Recording& recording_;
  /// The times at which the memory of processes, or the thread of a CPU, changed; ascending.
  std::vector<std::uint64_t> changes_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> switches_;  ///< By CPU.
  std::map<std::size_t, std::uint64_t> ends_;  ///< The time of the last piece, by queue.
  std::optional<std::uint64_t> end_;           ///< The time of the current piece.
  TraceIndex begin_ = 0;
  std::map<TraceId, Line> lines_;
  TraceTimes times_;
  std::size_t implausible_ = 0;
};

/// Whether the timestamps of a unit are those of the counter that TimeConversion converts.
[[nodiscard]] bool counts_virtual_time(const Unit& unit);

}  // namespace waymark::perf
