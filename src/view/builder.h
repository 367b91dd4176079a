// Reads a capture once from its start to its end, and keeps what a viewer needs of all of it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "function_table.h"
#include "keyframe.h"
#include "keyframe_list.h"
#include "marks.h"
#include "overview.h"
#include "part_decoder.h"
#include "waymark/stacks/quality.h"
#include "waymark/stacks/tree.h"

namespace waymark::view {

/// The unit of the axis, and its beginning.
struct AxisChoice {
  AxisUnit unit = AxisUnit::kInstructions;
  std::uint64_t origin = 0;
  bool has_timestamps = false;
  bool has_cycles = false;
};

/// Timestamps if there are any near the start; else cycles, if there is only one source; else
/// instructions; else bytes.
Result<AxisChoice> choose_axis(PartDecoder& decoder, const Stop& stop);

/// The codes of the stacks of keyframes.  Any number of threads may use it.
class CodeList {
 public:
  [[nodiscard]] stacks::Code get(stacks::CodeId code) const;
  [[nodiscard]] std::size_t size() const;
  void take(const stacks::Tree& tree);
  void take(std::vector<stacks::Code> codes);
  [[nodiscard]] std::vector<stacks::Code> all() const;

 private:
  mutable std::mutex mutex_;
  std::deque<stacks::Code> codes_;
};

/// The facts known so far; a value that does not change.
struct Known {
  Keyframes keyframes{};
  Overview overview{};
  std::shared_ptr<const stacks::Tree> tree{};  ///< nullptr: there is none yet.
  std::vector<std::uint64_t> n{};              ///< By source, as PartDecoder::n().
  std::vector<stacks::Quality> quality{};      ///< By source.
  std::uint64_t bytes = 0;
  bool complete = false;
};

/// One pass, block by block.  One owner; not thread safe.
class Builder final : private stacks::Sink {
 public:
  /// `least`: the least trace between keyframes.
  Builder(PartDecoder& decoder, FunctionTable& functions, CodeList& codes, const AxisChoice& axis,
          std::uint64_t least);

  /// Reads the next block.  False: that was the end.
  Result<bool> step(const Stop& stop);
  /// A copy of what is known.  `tree`: with the tree.
  [[nodiscard]] Known known(bool tree);

 private:
  enum class What : std::uint8_t { kRun, kCycles, kGap, kException, kMark };
  /// Waits for the next point of its source.
  struct Pending {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t cycles = 0;
    TrackNumber track = 0;
    FunctionNumber function = 0;
    std::uint32_t depth = 0;
    What what = What::kRun;
    std::uint32_t mark = 0;  ///< In `marks`.
  };
  struct Track {
    TraceId source = 0;
    std::vector<FunctionNumber> stack{};
  };
  struct Source {
    TraceId id = 0;
    std::optional<stacks::TrackId> track{};
    std::uint64_t run_from = 0;
    std::uint64_t cycles_from = 0;
    std::optional<AxisPoint> last{};  ///< The last point that was used.
    std::vector<Pending> pending{};
    std::vector<std::pair<bool, Mark>> marks{};  ///< Of `pending`; true: a message.
  };

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override;
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override;
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId track, std::uint64_t position) override;
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override;
  void on_gap(TraceId source, std::uint64_t position) override;
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override;
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override;

  void take(std::span<const Element> elements);
  void end_run(Source& source, std::uint64_t position);
  void add_mark(Source& source, const FoundMark& mark, std::uint64_t n);
  void resolve(Source& source, std::uint64_t position);
  void resolve_rest();
  void give(Source& source, const Pending& pending, const AxisPoints& points);
  void coarsen(Source& source);
  void keep_keyframe();
  Source& source(TraceId id) { return sources_[places_[id]]; }

  PartDecoder& decoder_;
  CodeList& codes_;
  FunctionNumbers numbers_;
  AxisChoice axis_;
  MarkFinder marks_;
  std::vector<FoundMark> found_;
  std::vector<Source> sources_;  ///< In the order of the capture.
  std::array<std::uint8_t, 256> places_{};
  std::vector<Track> tracks_;
  KeyframeList keyframes_;
  Overview overview_;
  bool begun_ = false;
  bool complete_ = false;
};

}  // namespace waymark::view
