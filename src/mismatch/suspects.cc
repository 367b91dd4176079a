#include "waymark/mismatch/suspects.h"

#include <limits>
#include <utility>

namespace waymark::mismatch {

void Suspects::count(std::span<const Walked> path, std::uint64_t Record::* of) {
  for (const Walked& walked : path) {
    const auto known = ranges_.find(walked.start);
    if (known != ranges_.end()) {
      ++(known->second.*of);
    } else if (ranges_.size() < kMostRanges) {
      ranges_[walked.start].*of = 1;
    }
  }
}

const Walked* Suspects::blame(std::span<const Walked> path) const {
  const Walked* blamed = nullptr;
  Record worst{.passes = std::numeric_limits<std::uint64_t>::max()};
  for (const Walked& walked : path) {
    const auto known = ranges_.find(walked.start);
    const Record record = known == ranges_.end() ? Record{} : known->second;
    if (blamed != nullptr &&
        std::pair(record.passes, worst.failures) >= std::pair(worst.passes, record.failures))
      continue;
    blamed = &walked;
    worst = record;
  }
  return blamed;
}

}  // namespace waymark::mismatch
