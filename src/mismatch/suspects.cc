#include "waymark/mismatch/suspects.h"

#include <algorithm>

namespace waymark::mismatch {

Suspects::Record* Suspects::record_of(const Walked& walked) {
  auto known = ranges_.find(walked.end);
  if (known == ranges_.end()) {
    if (ranges_.size() == kMostRanges) return nullptr;
    known = ranges_.try_emplace(walked.end).first;
  }
  Record& record = known->second;
  if (record.way == ways_) return nullptr;
  record.way = ways_;
  return &record;
}

void Suspects::pass(std::span<const Walked> path) {
  ++ways_;
  for (const Walked& walked : path) {
    Record* const record = record_of(walked);
    if (record != nullptr) ++record->passes;
    if (const auto known = ranges_.find(walked.end); known != ranges_.end())
      known->second.from = std::min(known->second.from, walked.start);
  }
}

void Suspects::fail(std::span<const Walked> path) {
  ++ways_;
  for (const Walked& walked : path)
    if (Record* const record = record_of(walked)) ++record->failures;
}

Suspects::Rank Suspects::rank_of(const Walked& walked) const {
  const auto known = ranges_.find(walked.end);
  // A range that is not remembered is at least on this way.
  const Record record = known == ranges_.end() ? Record{.failures = 1} : known->second;
  // Code before the one that passed was not on a good way.
  const auto passes = static_cast<double>(record.from <= walked.start ? record.passes : 0);
  const auto failures = static_cast<double>(record.failures);
  return {.no_call_before = walked.no_call_before,
          .score = failures == 0 ? 0 : failures * failures / (failures + passes)};
}

const Walked* Suspects::blame(std::span<const Walked> path) const {
  const Walked* blamed = nullptr;
  Rank worst;
  for (const Walked& walked : path) {
    const Rank rank = rank_of(walked);
    if (blamed != nullptr && rank < worst) continue;
    blamed = &walked;
    worst = rank;
  }
  return blamed;
}

std::vector<Walked> Suspects::suspects(std::span<const Walked> path) const {
  std::vector<Walked> all;
  const Walked* const blamed = blame(path);
  if (blamed == nullptr) return all;
  const Rank worst = rank_of(*blamed);
  for (const Walked& walked : path) {
    if (rank_of(walked) == worst && std::ranges::find(all, walked.end, &Walked::end) == all.end())
      all.push_back(walked);
  }
  return all;
}

}  // namespace waymark::mismatch
