#include "waymark/diff/aligner.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace waymark::diff {
namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 29;
}

/// The first place of each window of one run, by hash.
class Windows {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit Windows(std::size_t count)
      : mask_(std::bit_ceil(2 * count + 1) - 1), hashes_(mask_ + 1), places_(mask_ + 1, kNone) {}

  void add(std::uint64_t hash, std::uint32_t place) {
    auto at = static_cast<std::size_t>(hash & mask_);
    while (places_[at] != kNone) {
      if (hashes_[at] == hash) return;
      at = (at + 1) & mask_;
    }
    hashes_[at] = hash;
    places_[at] = place;
  }
  [[nodiscard]] std::uint32_t find(std::uint64_t hash) const {
    for (auto at = static_cast<std::size_t>(hash & mask_); places_[at] != kNone;
         at = (at + 1) & mask_)
      if (hashes_[at] == hash) return places_[at];
    return kNone;
  }

 private:
  std::size_t mask_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

void Aligner::advance(const Found& found) {
  while (!done_) {
    if (open_) {
      if (!join(found)) break;
    } else if (!compare()) {
      break;
    }
  }
  if (done_) {
    // The other run has ended: nothing is left to compare with.
    for (Side side = 0; side < kSides; ++side) pass(side, waiting(side), true);
  }
  for (Run& run : runs_) compact(run);
}

/// Passes what is the same.  False: more steps are needed.
bool Aligner::compare() {
  const std::size_t most = std::min(waiting(0), waiting(1));
  const auto first = runs_[0].steps.begin() + static_cast<std::ptrdiff_t>(runs_[0].head);
  const auto second = runs_[1].steps.begin() + static_cast<std::ptrdiff_t>(runs_[1].head);
  const auto count = static_cast<std::ptrdiff_t>(most);
  const auto [differs, other] = std::mismatch(first, first + count, second);
  const auto same = static_cast<std::size_t>(differs - first);
  if (same != 0) {
    agreement_.steps += same;
    for (Side side = 0; side < kSides; ++side) pass(side, same, false);
  }
  if (waiting(0) != 0 && waiting(1) != 0) {
    open();
    return true;
  }
  for (Side side = 0; side < kSides; ++side) {
    if (waiting(side) != 0 || !runs_[side].ended) continue;
    if (waiting(1 - side) != 0) {
      open();
      return true;
    }
    done_ = done_ || runs_[1 - side].ended;
  }
  return false;
}

void Aligner::pass(Side side, std::size_t steps, bool apart) {
  if (steps == 0) return;
  Run& run = runs_[side];
  const auto counts = std::span(run.counts).subspan(run.head, steps);
  const std::uint64_t instructions =
      std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  run.before = run.steps[run.head + steps - 1];
  run.head += steps;
  run.passed += steps;
  run.instructions += instructions;
  if (!apart) return;
  const auto add = [&](Detour& detour) {
    detour.steps += steps;
    detour.instructions += instructions;
  };
  add(agreement_.apart[side]);
  if (open_) add(open_->detours[side]);
}

void Aligner::compact(Run& run) {
  constexpr std::size_t kWorthwhile = std::size_t{1} << 12;
  if (run.head < kWorthwhile || 2 * run.head < run.steps.size()) return;
  const auto passed = static_cast<std::ptrdiff_t>(run.head);
  run.steps.erase(run.steps.begin(), run.steps.begin() + passed);
  run.counts.erase(run.counts.begin(), run.counts.begin() + passed);
  run.head = 0;
}

// ---- Where the runs diverge -----------------------------------------------------------------

void Aligner::open() {
  Divergence divergence{.thread = thread_};
  for (Side side = 0; side < kSides; ++side) {
    const Run& run = runs_[side];
    divergence.at[side] = {.step = run.passed,
                           .instruction = run.instructions,
                           .block = step(side, 0),
                           .before = run.before};
  }
  classify(divergence);
  open_ = divergence;
  reach_ = 0;
  ++agreement_.divergences;
  ++agreement_.by_cause[static_cast<std::size_t>(divergence.cause)];
}

void Aligner::classify(Divergence& divergence) const {
  const std::array<BlockNumber, kSides> at{divergence.at[0].block, divergence.at[1].block};
  for (Side side = 0; side < kSides; ++side) {
    if (at[side] != kNoBlock) continue;
    divergence.cause = Cause::kEnd;
    divergence.left = side;
    return;
  }
  const Block& first = blocks_[at[0]];
  const Block& second = blocks_[at[1]];
  // A gap without any instruction before it.
  for (Side side = 0; side < kSides; ++side) {
    const Block& block = side == 0 ? first : second;
    if (block.leave != Leave::kGap || block.places[side].count != 0) continue;
    divergence.cause = Cause::kGap;
    divergence.left = side;
    return;
  }
  if (first.start == second.start) return classify_same_start(divergence);
  if (divergence.at[0].before == kNoBlock || divergence.at[1].before == kNoBlock) {
    divergence.cause = Cause::kStart;
    return;
  }
  switch (blocks_[divergence.at[0].before].leave) {
    case Leave::kGap:
      divergence.cause = Cause::kStart;
      break;
    case Leave::kIndirect:
      divergence.cause = Cause::kIndirectTarget;
      break;
    case Leave::kException:
      divergence.cause = Cause::kHandler;
      break;
    default:
      divergence.cause = Cause::kOtherCode;
      break;
  }
}

/// The run whose stretch is shorter left the common path.
void Aligner::classify_same_start(Divergence& divergence) const {
  std::array<const Block*, kSides> blocks{&blocks_[divergence.at[0].block],
                                          &blocks_[divergence.at[1].block]};
  const auto size = [&](Side side) { return blocks[side]->places[side].size; };
  if (size(0) != size(1)) {
    divergence.left = size(0) < size(1) ? 0 : 1;
  } else {
    // The same instructions: what is not a branch shows what happened.
    for (Side side = 0; side < kSides && !divergence.left; ++side)
      if (blocks[side]->leave != blocks[1 - side]->leave && blocks[side]->leave > Leave::kIndirect)
        divergence.left = side;
  }
  const Block& left = *blocks[divergence.left.value_or(0)];
  switch (left.leave) {
    case Leave::kBranch:
    case Leave::kIndirect:
      divergence.cause =
          left.conditional && !left.differs ? Cause::kBranchOutcome : Cause::kOtherCode;
      break;
    case Leave::kException:
      divergence.cause = Cause::kException;
      break;
    case Leave::kGap:
      divergence.cause = Cause::kGap;
      break;
    case Leave::kEnd:
      divergence.cause = Cause::kEnd;
      break;
    case Leave::kElsewhere:
      divergence.cause = Cause::kOtherCode;
      break;
  }
}

// ---- Where they meet ------------------------------------------------------------------------

/// Looks for the place where both go on alike.  False: more steps are needed.
bool Aligner::join(const Found& found) {
  for (; reach_ < kReaches.size(); ++reach_) {
    const Reach& reach = kReaches[reach_];
    for (Side side = 0; side < kSides; ++side)
      if (!runs_[side].ended && waiting(side) < reach.distance + reach.alike) return false;
    const auto meeting = meet(reach);
    if (!meeting) {
      // Nothing more to look at.
      if (runs_[0].ended && runs_[1].ended && waiting(0) <= reach.distance &&
          waiting(1) <= reach.distance)
        break;
      continue;
    }
    const bool same = step(0, meeting->first) == step(1, meeting->second);
    const BlockNumber joined = step(0, meeting->first);
    // Of steps that only end alike, the first part is not the same.
    pass(0, meeting->first + (same ? 0 : 1), true);
    pass(1, meeting->second + (same ? 0 : 1), true);
    close(found, joined, !same);
    return true;
  }
  for (Side side = 0; side < kSides; ++side)
    pass(side, std::min(waiting(side), kMostDistance), true);
  reach_ = 0;
  if ((waiting(0) == 0 && runs_[0].ended) || (waiting(1) == 0 && runs_[1].ended)) {
    for (Side side = 0; side < kSides; ++side) pass(side, waiting(side), true);
    if (!runs_[0].ended || !runs_[1].ended) return false;
    close(found, kNoBlock, false);
    done_ = true;
  }
  return true;
}

void Aligner::close(const Found& found, BlockNumber joined, bool inside) {
  open_->joined = joined;
  open_->joined_inside = inside;
  if (joined == kNoBlock && open_->cause != Cause::kEnd) ++agreement_.not_joined;
  const Divergence divergence = *open_;
  open_.reset();
  reach_ = 0;
  found(divergence);
}

/// The hash of the steps from `ahead` on, the first by how it ends.
std::uint64_t Aligner::window(Side side, std::size_t ahead, std::size_t alike) const {
  std::uint64_t hash = mix(1, blocks_[step(side, ahead)].tail);
  for (std::size_t i = 1; i < alike; ++i) hash = mix(hash, step(side, ahead + i));
  return hash;
}

bool Aligner::same_window(std::size_t first, std::size_t second, std::size_t alike) const {
  if (blocks_[step(0, first)].tail != blocks_[step(1, second)].tail) return false;
  for (std::size_t i = 1; i < alike; ++i)
    if (step(0, first + i) != step(1, second + i)) return false;
  return true;
}

/// The nearest place: the one before which both runs together execute the fewest steps.
std::optional<Aligner::Meeting> Aligner::meet(const Reach& reach) const {
  const std::size_t first_count = std::min(waiting(0), reach.distance);
  const std::size_t second_count = std::min(waiting(1), reach.distance);
  Windows windows(second_count);
  for (std::size_t j = 0; j < second_count; ++j)
    windows.add(window(1, j, reach.alike), static_cast<std::uint32_t>(j));
  std::optional<Meeting> nearest;
  for (std::size_t i = 0; i < first_count; ++i) {
    if (nearest && i >= nearest->first + nearest->second) break;
    const std::uint32_t j = windows.find(window(0, i, reach.alike));
    if (j == Windows::kNone || (nearest && i + j >= nearest->first + nearest->second)) continue;
    if (same_window(i, j, reach.alike)) nearest = Meeting{i, j};
  }
  return nearest;
}

}  // namespace waymark::diff
