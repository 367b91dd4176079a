// The calling-context tree of a part of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "waymark/stacks/sink.h"
#include "waymark/stacks/tree.h"
#include "window_cut.h"

namespace waymark::view {

/// The events of a window, besides those in its tree.
struct WindowSums {
  std::uint64_t calls = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t gaps = 0;
  bool has_cycles = false;
};

/// Makes the tree of the instructions of a window from what happens on stacks.  The window may
/// begin and end anywhere, also for each source at another place of the trace, so the tree of an
/// engine cannot be used.  One owner; not thread safe.
class WindowTree final : public stacks::Sink {
 public:
  WindowTree(const WindowCut& cut, const Knowledge& knowledge) : cut_(cut), knowledge_(knowledge) {}

  /// A replay follows; the sums go on.  Before begin(), it says which frames are open.
  void restart();
  /// `codes`: the tree of the engine, whose codes events have.
  void begin(const stacks::Tree& codes);
  /// The code of what a source executes next could not be read, so its callers are not known; or
  /// trace was lost.
  void miss_code(TraceId source, bool missing) { clocks_[source].missing_code = missing; }
  /// The source executed everything before this instruction.
  void reach(TraceId source, std::uint64_t position) { account(source, position); }

  [[nodiscard]] const stacks::Tree& tree() const { return tree_; }
  stacks::Tree take_tree() { return std::move(tree_); }
  [[nodiscard]] const WindowSums& sums() const { return sums_; }

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override;
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override;
  void on_enter(stacks::TrackId number, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId number, std::uint64_t position) override;
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override;
  void on_gap(TraceId source, std::uint64_t position) override;
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override;
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override;

 private:
  struct Track {
    TraceId source = 0;
    bool shown = false;  ///< The window asks for it.
    std::vector<stacks::NodeId> frames{};
    std::vector<stacks::CodeId> open{};  ///< Before begin(): the frames.
    stacks::NodeId root = stacks::kRootNode;
    stacks::NodeId root_before = stacks::kRootNode;  ///< The last gap.
  };
  /// Instructions since the last count of cycles.
  struct Group {
    stacks::NodeId node = stacks::kRootNode;
    std::uint64_t all = 0;
    std::uint64_t counted = 0;  ///< Those in the window.
  };
  struct Clock {
    std::uint64_t position = 0;
    stacks::TrackId track = 0;
    bool runs = false;
    bool missing_code = false;
    std::vector<Group> waiting{};
  };

  void account(TraceId source, std::uint64_t position);
  stacks::CodeId code_of(stacks::CodeId id);
  [[nodiscard]] static stacks::NodeId top(const Track& track) {
    return track.frames.empty() ? track.root : track.frames.back();
  }
  [[nodiscard]] bool counts(const Track& track, std::uint64_t position) const {
    return begun_ && track.shown && cut_.contains(track.source, position);
  }

  const WindowCut& cut_;
  const Knowledge& knowledge_;
  const stacks::Tree* codes_ = nullptr;
  bool begun_ = false;
  stacks::Tree tree_;
  WindowSums sums_;
  std::vector<Track> tracks_;
  std::array<Clock, 256> clocks_{};
  std::vector<stacks::CodeId> known_codes_;
};

}  // namespace waymark::view
