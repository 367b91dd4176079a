#include "overview.h"

#include <algorithm>
#include <limits>

namespace waymark::view {
namespace {

std::uint32_t sum(std::uint32_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(a + std::min(b, kMost), kMost));
}

}  // namespace

void TopFunctions::add(FunctionNumber function, std::uint64_t count) {
  Entry* smallest = entries_.data();
  for (std::size_t i = 0; i < size_; ++i) {
    Entry& entry = entries_[i];
    if (entry.function == function) {
      entry.count = sum(entry.count, count);
      return;
    }
    if (entry.count < smallest->count) smallest = &entry;
  }
  if (size_ < kMost) {
    entries_[size_++] = {.function = function, .count = sum(0, count)};
    return;
  }
  *smallest = {.function = function, .count = sum(smallest->count, count)};
}

void TopFunctions::add(const TopFunctions& other) {
  for (std::size_t i = 0; i < other.size_; ++i)
    add(other.entries_[i].function, other.entries_[i].count);
}

std::vector<TopFunctions::Entry> TopFunctions::sorted() const {
  std::vector<Entry> all(entries_.begin(), entries_.begin() + size_);
  std::ranges::stable_sort(all, std::ranges::greater{}, &Entry::count);
  return all;
}

void OverviewBucket::add(const OverviewBucket& other) {
  instructions += other.instructions;
  cycles += other.cycles;
  depth = std::max(depth, other.depth);
  exceptions = sum(exceptions, other.exceptions);
  messages = sum(messages, other.messages);
  gaps += other.gaps;
  functions.add(other.functions);
}

void OverviewTrack::add(Mark mark) {
  marks.push_back(std::move(mark));
  if (marks.size() < kMostMarks) return;
  std::vector<Mark> fewer;
  fewer.reserve(kMostMarks);
  for (std::size_t i = 0; i + 1 < marks.size(); i += 2) {
    marks[i].count = sum(marks[i].count, marks[i + 1].count);
    fewer.push_back(std::move(marks[i]));
  }
  if (marks.size() % 2 != 0) fewer.push_back(std::move(marks.back()));
  marks = std::move(fewer);
}

OverviewBucket& Overview::bucket(OverviewTrack& track, std::uint64_t number) {
  std::vector<OverviewBucket>& all = track.buckets;
  if (all.empty() || all.back().number < number) {
    ++buckets_;
    all.push_back({.number = number});
    return all.back();
  }
  if (all.back().number == number) return all.back();
  const auto at = std::ranges::lower_bound(all, number, {}, &OverviewBucket::number);
  if (at->number == number) return *at;
  ++buckets_;
  return *all.insert(at, {.number = number});
}

void Overview::widen() {
  width_ *= 2;
  buckets_ = 0;
  for (auto& [number, track] : tracks_) {
    std::vector<OverviewBucket> fewer;
    for (OverviewBucket& each : track.buckets) {
      each.number /= 2;
      if (!fewer.empty() && fewer.back().number == each.number) {
        fewer.back().add(each);
      } else {
        fewer.push_back(each);
      }
    }
    track.buckets = std::move(fewer);
    buckets_ += track.buckets.size();
  }
}

void Overview::add(TrackNumber number, const Part& part) {
  reach(part.to);
  while (part.to / width_ >= static_cast<double>(kMostNumbers)) widen();
  if (buckets_ > kMostBuckets && width_ < length_ / 64) widen();
  OverviewTrack& track = tracks_[number];
  if (track.buckets.empty()) track.first = part.from;
  track.first = std::min(track.first, part.from);
  track.last = std::max(track.last, part.to);
  track.depth = std::max(track.depth, part.depth);
  const auto first = static_cast<std::uint64_t>(part.from / width_);
  const auto last = std::max(static_cast<std::uint64_t>(part.to / width_), first);
  std::uint64_t instructions = part.instructions;
  std::uint64_t cycles = part.cycles;
  for (std::uint64_t i = first; i <= last; ++i) {
    const double from = std::max(part.from, static_cast<double>(i) * width_);
    const double to = std::min(part.to, static_cast<double>(i + 1) * width_);
    if (i != first && i == last && to <= from) {
      if (instructions == 0 && cycles == 0) break;
    }
    OverviewBucket& here = bucket(track, i);
    std::uint64_t own = instructions;
    std::uint64_t own_cycles = cycles;
    if (i != last && part.to > part.from) {
      const double share = (to - from) / (part.to - part.from);
      own =
          std::min(own, static_cast<std::uint64_t>(share * static_cast<double>(part.instructions)));
      own_cycles = std::min(own_cycles,
                            static_cast<std::uint64_t>(share * static_cast<double>(part.cycles)));
    }
    instructions -= own;
    cycles -= own_cycles;
    here.instructions += own;
    here.cycles += own_cycles;
    here.depth = std::max(here.depth, part.depth);
    if (own != 0) here.functions.add(part.function, own);
    if (part.is_gap) here.gaps += to - from;
    if (i == first) {
      here.exceptions = sum(here.exceptions, part.exceptions);
      here.messages = sum(here.messages, part.messages);
    }
  }
}

}  // namespace waymark::view
