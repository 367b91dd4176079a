// Which code on the way to a contradiction is the code that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "waymark/mismatch/finder.h"

namespace waymark::mismatch {

/// A contradiction shows where decoding meets an address that cannot be; the code that differs may
/// be far before it.  So ranges that also occur on ways without a contradiction are not suspected:
/// of a way to a contradiction, the range is blamed that occurs least often on good ways, then most
/// often on bad ones, and then the first.  Bounded: kMostRanges are remembered.
class Suspects {
 public:
  static constexpr std::size_t kMostRanges = std::size_t{1} << 16;

  /// A way without a contradiction.
  void pass(std::span<const Walked> path) { count(path, &Record::passes); }
  /// A way to a contradiction.
  void fail(std::span<const Walked> path) { count(path, &Record::failures); }

  /// The range of a way to a contradiction that is to blame, once all ways are known; nullptr: the
  /// way is empty.  It is in `path`.
  [[nodiscard]] const Walked* blame(std::span<const Walked> path) const;

 private:
  struct Record {
    std::uint64_t passes = 0;
    std::uint64_t failures = 0;
  };
  void count(std::span<const Walked> path, std::uint64_t Record::* of);

  std::unordered_map<std::uint64_t, Record> ranges_;  ///< By the first address.
};

}  // namespace waymark::mismatch
