#include "window_tree.h"

#include <algorithm>
#include <limits>

#include "waymark/base/wide.h"

namespace waymark::view {
namespace {

constexpr std::size_t kMostGroups = 4096;
constexpr stacks::CodeId kNoCode = std::numeric_limits<stacks::CodeId>::max();

std::uint64_t share(std::uint64_t whole, std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<std::uint64_t>(Wide{whole} * part / all);
}

}  // namespace

void WindowTree::restart() {
  begun_ = false;
  codes_ = nullptr;
  tracks_.clear();
  clocks_ = {};
  known_codes_.clear();
}

void WindowTree::begin(const stacks::Tree& codes) {
  codes_ = &codes;
  begun_ = true;
  for (Track& track : tracks_) {
    for (const stacks::CodeId code : track.open)
      track.frames.push_back(tree_.child(top(track), code_of(code)));
    track.open.clear();
  }
}

stacks::CodeId WindowTree::code_of(stacks::CodeId id) {
  if (codes_ == nullptr || id >= codes_->codes().size()) return 0;
  if (known_codes_.size() <= id) known_codes_.resize(codes_->codes().size(), kNoCode);
  if (known_codes_[id] == kNoCode) known_codes_[id] = tree_.code(codes_->code(id));
  return known_codes_[id];
}

void WindowTree::account(TraceId source, std::uint64_t position) {
  Clock& clock = clocks_[source];
  if (position <= clock.position) return;
  const std::uint64_t from = clock.position;
  clock.position = position;
  // A replay begins in the middle: what was before it is not counted.
  if (!begun_ || !clock.runs || clock.track >= tracks_.size() || source >= kTraceIdCount) return;
  const Track& track = tracks_[clock.track];
  std::uint64_t counted = 0;
  const stacks::NodeId node = top(track);
  if (track.shown) {
    const std::uint64_t first = std::max(from, cut_.begin.first[source]);
    const std::uint64_t after = std::min(position, cut_.end.first[source]);
    if (first < after) counted = after - first;
    if (counted != 0) tree_.node(node).instructions += counted;
  }
  if (!clock.waiting.empty() &&
      (clock.waiting.back().node == node || clock.waiting.size() == kMostGroups)) {
    clock.waiting.back().all += position - from;
    clock.waiting.back().counted += counted;
  } else {
    clock.waiting.push_back({node, position - from, counted});
  }
}

void WindowTree::on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) {
  if (tracks_.size() <= track) tracks_.resize(track + std::size_t{1});
  tracks_[track] = {
      .source = source,
      .shown = cut_.tracks.empty() ||
               (knowledge_.track && cut_.has_track(knowledge_.track(source, thread)))};
}

void WindowTree::on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) {
  account(source, position);
  clocks_[source].track = track;
  clocks_[source].runs = true;
}

void WindowTree::on_enter(stacks::TrackId number, std::uint64_t position, stacks::CodeId code,
                          stacks::Opening opening) {
  if (number >= tracks_.size()) return;
  Track& track = tracks_[number];
  if (!begun_) {
    track.open.push_back(code);
    return;
  }
  account(track.source, position);
  if (opening == stacks::Opening::kResumed && track.frames.empty()) track.root = track.root_before;
  const stacks::NodeId parent = top(track);
  const stacks::CodeId own = code_of(code);
  const stacks::NodeId node = tree_.child(parent, own);
  track.frames.push_back(node);
  const bool called = opening == stacks::Opening::kCall || opening == stacks::Opening::kTailCall;
  if (!called || !counts(track, position)) return;
  if (node != parent) ++tree_.node(node).calls;
  if (tree_.code(own).kind == stacks::CodeKind::kException) {
    ++sums_.exceptions;
  } else {
    ++sums_.calls;
  }
}

void WindowTree::on_leave(stacks::TrackId number, std::uint64_t position) {
  if (number >= tracks_.size()) return;
  Track& track = tracks_[number];
  account(track.source, position);
  if (!begun_ && !track.open.empty()) track.open.pop_back();
  if (!track.frames.empty()) track.frames.pop_back();
}

void WindowTree::on_instant(stacks::TrackId, std::uint64_t, stacks::Instant) {}

void WindowTree::on_gap(TraceId source, std::uint64_t position) {
  account(source, position);
  Clock& clock = clocks_[source];
  clock.waiting.clear();
  if (clock.track >= tracks_.size()) return;
  Track& track = tracks_[clock.track];
  if (counts(track, position)) ++sums_.gaps;
  track.root_before = track.root;
  track.root = stacks::kRootNode;
  if (clock.missing_code)
    track.root =
        tree_.child(stacks::kRootNode, tree_.code({.kind = stacks::CodeKind::kLostCallers}));
  clock.missing_code = false;
}

void WindowTree::on_timestamp(TraceId, std::uint64_t, std::uint64_t) {}

void WindowTree::on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) {
  account(source, position);
  sums_.has_cycles = true;
  Clock& clock = clocks_[source];
  std::uint64_t all = 0;
  for (const Group& group : clock.waiting) all += group.all;
  std::uint64_t passed = 0;
  std::uint64_t given = 0;
  for (const Group& group : clock.waiting) {
    passed += group.all;
    const std::uint64_t due = share(cycles, passed, all);
    tree_.node(group.node).cycles += share(due - given, group.counted, group.all);
    given = due;
  }
  clock.waiting.clear();
}

}  // namespace waymark::view
