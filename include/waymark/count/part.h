// A stream counted in parts: what a part leaves open on both sides, and how parts are put together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/count/counts.h"

namespace waymark::count {

/// Some instructions and who executed them.
struct PartRange {
  Context context{};
  Range range{};
};

/// The counts of a part of a stream.  What its first elements mean depends on the part before, and
/// what follows its last ones is in the next.  Made by a Counter; a plain value.
struct Part {
  Counts counts;

  // -- Its begin. --
  /// Nothing has come that ends or closes a branch before it.
  bool reaches_through = true;
  /// Where the first range begins, if nothing ends the flow before it.
  std::optional<std::uint64_t> first{};

  /// What becomes of the ranges that wait for a cycle count, with those before the part.
  enum class Group : std::uint8_t {
    kOpen,    ///< They still wait.
    kClosed,  ///< `closing` cycles are theirs.
    kGap,     ///< None ever comes.
  };
  Group group = Group::kOpen;
  // Before any range of the part: the first count closes a group of earlier ranges.
  std::optional<std::uint64_t> first_cycles{};
  std::uint64_t more_cycles = 0;
  std::vector<PartRange> begun{};  ///< Ranges of the part in this group.
  bool begun_lost = false;         ///< There were too many of them.
  std::uint64_t closing = 0;

  // -- Its end; of a group only if that of the begin is not open. --
  std::optional<PartRange> branch{};  ///< An indirect branch: where did it go?
  std::optional<PartRange> direct{};  ///< A direct one, of which no block tells it.
  std::vector<PartRange> waiting{};
  bool waiting_lost = false;
  std::uint64_t waiting_cycles = 0;
};

/// Adds up the parts of a stream, in their order.  The sum is what one counter would have counted,
/// but for edges and cycles where limits of Counter were exceeded.  One owner; not thread safe.
class Stitcher {
 public:
  void add(Part part);

  /// All that was added; what is open stays open.
  Counts take();

 private:
  void close_group(Counts& more);
  void settle();

  Counts sum_;
  std::vector<Counts> pending_;  ///< To be added together: each sum copies all.
  std::size_t pending_rows_ = 0;
  std::optional<PartRange> branch_;
  std::optional<PartRange> direct_;
  std::vector<PartRange> waiting_;
  bool waiting_lost_ = false;
  std::uint64_t waiting_cycles_ = 0;
};

}  // namespace waymark::count
