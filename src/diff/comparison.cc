#include "waymark/diff/comparison.h"

#include <algorithm>
#include <numeric>

namespace waymark::diff {
namespace {

/// Which of two sums is larger, and by how much.
std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

void sort_changes(std::vector<Change>& changes) {
  const auto size = [](const Change& change) {
    return std::pair(distance(change.sums[0].instructions, change.sums[1].instructions),
                     distance(change.sums[0].cycles, change.sums[1].cycles));
  };
  std::ranges::stable_sort(changes,
                           [&](const Change& a, const Change& b) { return size(a) > size(b); });
}

void add(Sums& to, const Sums& more) {
  to.times += more.times;
  to.instructions += more.instructions;
  to.cycles += more.cycles;
}

/// The step of the run that left the common path shows where; else the step before it does.
bool is_in_step(const Divergence& divergence) {
  return divergence.left.has_value() && divergence.cause != Cause::kEnd;
}

}  // namespace

/// Passes on what the threads of one run do.
class Comparison::Visitor {
 public:
  Visitor(Comparison& owner, Side side) : owner_(owner), side_(side) {}
  void on_thread(ThreadNumber thread, const Element& element) {
    owner_.add_thread(side_, thread, element);
  }
  void on_step(ThreadNumber thread, const Step& step, TaskId space, const Element& at) {
    owner_.add_step(side_, thread, step, space, at);
  }
  void on_range(ThreadNumber /*thread*/, const Element& /*element*/) {}
  void on_cycles(ThreadNumber thread, std::uint64_t cycles) {
    owner_.add_cycles(side_, thread, cycles);
  }

 private:
  Comparison& owner_;
  Side side_;
};

Comparison::Comparison(ComparisonOptions options)
    : options_(std::move(options)),
      blocks_(programs_, options_.places),
      runs_{Run(options_.runs[0]), Run(options_.runs[1])} {}

void Comparison::observe(Side side, std::span<const Element> elements) {
  Visitor visitor(*this, side);
  runs_[side].threads.observe(elements, visitor);
  advance();
}

void Comparison::finish(Side side) {
  Run& run = runs_[side];
  if (run.finished) return;
  Visitor visitor(*this, side);
  run.threads.finish(visitor);
  run.finished = true;
  if (!runs_[1 - side].finished) {
    advance();
    return;
  }
  pair_rest();
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    if (pairs_[pair].threads[0] && pairs_[pair].threads[1]) {
      aligners_[pair]->end(0);
      aligners_[pair]->end(1);
      aligners_[pair]->advance([this](const Divergence& divergence) { keep(divergence); });
    }
    pairs_[pair].agreement = aligners_[pair]->agreement();
    aligners_[pair].reset();
  }
}

std::optional<Side> Comparison::next() const {
  if (runs_[0].finished && runs_[1].finished) return std::nullopt;
  if (runs_[0].finished || runs_[1].finished) return runs_[0].finished ? 1 : 0;
  return runs_[0].steps <= runs_[1].steps ? 0 : 1;
}

// ---- Threads --------------------------------------------------------------------------------

void Comparison::add_thread(Side side, ThreadNumber thread, const Element& element) {
  ThreadName name;
  if (options_.names[side]) {
    name = options_.names[side](element);
  } else {
    name = {.group = std::to_string(element.trace_id),
            .name = std::to_string(std::uint64_t{element.vmid} << 32 | element.context_id)};
  }
  Named& named = by_name_[{name.group, name.name}];
  const std::size_t ordinal = named.used[side]++;
  if (ordinal == named.pairs.size()) {
    named.pairs.push_back(static_cast<std::uint32_t>(pairs_.size()));
    pairs_.push_back({.name = std::move(name)});
    aligners_.push_back(std::make_unique<Aligner>(blocks_, named.pairs.back()));
    is_touched_.push_back(false);
  }
  const std::uint32_t pair = named.pairs[ordinal];
  pairs_[pair].threads[side] = thread;
  runs_[side].lanes.push_back({.pair = pair, .aligner = aligners_[pair].get()});
}

/// Threads without a partner of their name get one of their group.
void Comparison::pair_rest() {
  std::map<std::string, std::array<std::vector<std::uint32_t>, kSides>> alone;
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    for (Side side = 0; side < kSides; ++side)
      if (!pairs_[pair].threads[1 - side]) alone[pairs_[pair].name.group][side].push_back(pair);
  }
  for (const auto& [group, pairs] : alone) {
    const std::size_t both = std::min(pairs[0].size(), pairs[1].size());
    for (std::size_t i = 0; i < both; ++i) {
      ThreadPair& first = pairs_[pairs[0][i]];
      ThreadPair& second = pairs_[pairs[1][i]];
      first.threads[1] = second.threads[1];
      first.instructions[1] = second.instructions[1];
      first.not_compared[1] = second.not_compared[1];
      first.by_order = true;
      second.threads[1].reset();
      aligners_[pairs[0][i]]->take(1, *aligners_[pairs[1][i]]);
    }
  }
}

// ---- Steps ----------------------------------------------------------------------------------

void Comparison::add_step(Side side, ThreadNumber thread, const Step& step, TaskId space,
                          const Element& at) {
  Run& run = runs_[side];
  Lane& lane = run.lanes[thread];
  const BlockNumber block = blocks_.add(side, step, space, at);
  ++run.steps;
  pairs_[lane.pair].instructions[side] += step.count;
  if (step.leave == Leave::kGap) lane.cycles = {};
  if (lane.cycles.steps.size() < CycleShares::kMost)
    lane.cycles.steps.emplace_back(block, step.count);
  std::uint64_t& not_compared = pairs_[lane.pair].not_compared[side];
  if (not_compared == 0 && waiting_[side] >= options_.most_waiting) advance();
  if (block == kNoBlock || not_compared != 0 || waiting_[side] >= options_.most_waiting) {
    ++not_compared;
    return;
  }
  lane.aligner->add(side, block, step.count);
  ++waiting_[side];
  if (!is_touched_[lane.pair]) {
    is_touched_[lane.pair] = true;
    touched_.push_back(lane.pair);
  }
}

/// Divides cycles among the steps since the last count, by instructions.
void Comparison::add_cycles(Side side, ThreadNumber thread, std::uint64_t cycles) {
  CycleShares& shares = runs_[side].lanes[thread].cycles;
  shares.carried += cycles;
  std::uint64_t all = 0;
  for (const auto& [block, count] : shares.steps) all += block == kNoBlock ? 0 : count;
  if (all == 0) return;
  std::uint64_t passed = 0;
  std::uint64_t given = 0;
  for (const auto& [block, count] : shares.steps) {
    if (block == kNoBlock) continue;
    passed += count;
    const auto due = static_cast<std::uint64_t>(static_cast<long double>(shares.carried) *
                                                static_cast<long double>(passed) /
                                                static_cast<long double>(all));
    blocks_[block].sums[side].cycles += due - given;
    given = due;
  }
  shares.carried = 0;
  shares.steps.clear();
}

void Comparison::advance() {
  for (const std::uint32_t pair : touched_) {
    Aligner& aligner = *aligners_[pair];
    is_touched_[pair] = false;
    if (!pairs_[pair].threads[0] || !pairs_[pair].threads[1]) continue;
    aligner.advance([this](const Divergence& divergence) { keep(divergence); });
  }
  touched_.clear();
  for (Side side = 0; side < kSides; ++side) {
    if (waiting_[side] < options_.most_waiting) continue;
    waiting_[side] = 0;
    for (const auto& aligner : aligners_) waiting_[side] += aligner->waiting(side);
  }
}

void Comparison::keep(const Divergence& divergence) {
  const Kind kind = kind_of(divergence);
  if (const auto known = kinds_.find(kind); known != kinds_.end()) {
    ++divergences_[known->second].times;
    return;
  }
  if (divergences_.size() >= options_.most_divergences) return;
  kinds_.emplace(kind, divergences_.size());
  divergences_.push_back(divergence);
}

// ---- Equal divergences ----------------------------------------------------------------------

std::optional<std::array<BlockPlace, kSides>> Comparison::common_part(
    const Divergence& divergence) const {
  std::array<BlockPlace, kSides> parts{};
  const std::array<BlockNumber, kSides> steps{divergence.at[0].block, divergence.at[1].block};
  if (is_in_step(divergence) && steps[0] != kNoBlock && steps[1] != kNoBlock &&
      blocks_[steps[0]].start == blocks_[steps[1]].start) {
    for (Side side = 0; side < kSides; ++side) parts[side] = blocks_[steps[side]].places[side];
    const Side longer = parts[0].size > parts[1].size ? 0 : 1;
    parts[longer].size = parts[1 - longer].size;
    parts[longer].last_size = parts[1 - longer].last_size;
    return parts;
  }
  for (Side side = 0; side < kSides; ++side) {
    const BlockNumber before = divergence.at[side].before;
    if (before == kNoBlock) return std::nullopt;
    parts[side] = blocks_[before].places[side];
  }
  return parts;
}

Comparison::Kind Comparison::kind_of(const Divergence& divergence) const {
  Kind kind{.thread = divergence.thread, .cause = divergence.cause, .left = divergence.left};
  if (const auto parts = common_part(divergence)) {
    for (Side side = 0; side < kSides; ++side) {
      const program::Place end = (*parts)[side].end();
      kind.programs[side] = end.program;
      kind.addresses[side] = end.address;
    }
  }
  for (Side side = 0; side < kSides; ++side) {
    const BlockNumber number = divergence.at[side].block;
    if (number == kNoBlock) continue;
    const Block& block = blocks_[number];
    if (!is_in_step(divergence)) {
      kind.outcomes[side] = std::uint64_t{block.start} + 1;
    } else if (divergence.cause == Cause::kException && block.leave == Leave::kException) {
      kind.outcomes[side] = std::uint64_t{block.exception} + 1;
    }
  }
  return kind;
}

// ---- Results --------------------------------------------------------------------------------

Agreement Comparison::agreement() const {
  Agreement sum;
  for (const ThreadPair& pair : pairs_) {
    const Agreement& each = pair.agreement;
    sum.steps += each.steps;
    sum.divergences += each.divergences;
    sum.not_joined += each.not_joined;
    for (std::size_t i = 0; i < kCauses; ++i) sum.by_cause[i] += each.by_cause[i];
    for (Side side = 0; side < kSides; ++side) {
      sum.apart[side].steps += each.apart[side].steps;
      sum.apart[side].instructions += each.apart[side].instructions;
    }
  }
  return sum;
}

bool Comparison::are_same() const {
  return !is_full() && std::ranges::all_of(pairs_, [](const ThreadPair& pair) {
    return pair.threads[0].has_value() == pair.threads[1].has_value() &&
           pair.agreement.divergences == 0 && pair.not_compared[0] == 0 &&
           pair.not_compared[1] == 0;
  });
}

std::array<Sums, kSides> Comparison::totals() const {
  std::array<Sums, kSides> sums{};
  for (const Block& block : blocks_.all())
    for (Side side = 0; side < kSides; ++side) add(sums[side], block.sums[side]);
  return sums;
}

std::vector<Change> Comparison::function_changes() const {
  std::vector<Change> all(programs_.function_count());
  for (std::uint32_t number = 0; number < all.size(); ++number) all[number].number = number;
  for (const Block& block : blocks_.all())
    for (Side side = 0; side < kSides; ++side)
      add(all[block.function].sums[side], block.sums[side]);
  std::erase_if(all, [](const Change& change) {
    return change.sums[0].instructions == change.sums[1].instructions &&
           change.sums[0].cycles == change.sums[1].cycles;
  });
  sort_changes(all);
  return all;
}

std::vector<Change> Comparison::block_changes() const {
  std::vector<Change> changes;
  const std::vector<Block>& blocks = blocks_.all();
  for (std::uint32_t number = 0; number < blocks.size(); ++number) {
    const auto& sums = blocks[number].sums;
    if (sums[0] != sums[1]) changes.push_back({.number = number, .sums = sums});
  }
  sort_changes(changes);
  return changes;
}

}  // namespace waymark::diff
