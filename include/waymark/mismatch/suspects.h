// Which code on the way to a contradiction is the code that differs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "waymark/mismatch/finder.h"

namespace waymark::mismatch {

/// A contradiction shows where decoding meets an address that cannot be; the code that differs may
/// be far before it.  The first suspect is a range to which a return led although no call is before
/// it, as code that moved has its calls elsewhere.  Then counts decide, as in the localisation of
/// faults from the coverage of tests (the Ochiai coefficient): the range is blamed that is on many
/// bad ways and on few good ones.  The last of equal ones is blamed, as a wrong image is soon
/// contradicted.  Ranges are known by their ends: one that was entered at another place, by
/// mistake, has the same code up to its waypoint.  Bounded: kMostRanges are remembered.
class Suspects {
 public:
  static constexpr std::size_t kMostRanges = std::size_t{1} << 16;

  /// A way without a contradiction.
  void pass(std::span<const Walked> path);
  /// A way to a contradiction.
  void fail(std::span<const Walked> path);

  /// The range of a way to a contradiction that is to blame, once all ways are known; nullptr: the
  /// way is empty.  It is in `path`.
  [[nodiscard]] const Walked* blame(std::span<const Walked> path) const;
  /// All ranges of the way that are as suspect as the one that blame() gives, in the order of the
  /// way.  Each end occurs once.
  [[nodiscard]] std::vector<Walked> suspects(std::span<const Walked> path) const;

 private:
  struct Record {
    std::uint64_t passes = 0;  ///< Ways; a way with a loop counts once.
    std::uint64_t failures = 0;
    std::uint64_t from = ~std::uint64_t{0};  ///< The lowest start on a way that passed.
    std::uint64_t way = 0;                   ///< The last way that was counted.
  };
  /// Greater is more suspect.
  struct Rank {
    bool no_call_before = false;
    /// failures² / (failures + passes).  The Ochiai coefficient is the root of it, divided by a
    /// number that is the same for all ranges.
    double score = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  /// Counts a range at most once for each way.  nullptr: this way has been counted already, or
  /// kMostRanges are known.
  Record* record_of(const Walked& walked);
  [[nodiscard]] Rank rank_of(const Walked& walked) const;

  std::unordered_map<std::uint64_t, Record> ranges_;  ///< By the end.
  std::uint64_t ways_ = 0;
};

}  // namespace waymark::mismatch
