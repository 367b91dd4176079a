// A stream counted in parts: what a part leaves open on both sides, and how parts are combined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/count/counts.h"

namespace waymark::count {

/// Some instructions and the context that executed them.
struct PartRange {
  Context context{};
  Range range{};
};

/// The counts of a part of a stream.  The meaning of its first elements depends on the previous
/// part, and what follows its last ones is in the next part.  Made by a Counter; a plain value.
struct Part {
  Counts counts;

  // -- Its start. --
  /// No element has ended a branch from before the part, or shown its target.
  bool reaches_through = true;
  /// The contexts that came while a branch from before the part was open, each only once.
  std::vector<Context> crossed{};
  /// Adds one.  False: there are too many, and the branch has no target.
  bool cross(const Context& context);
  /// The start of the first range, if nothing ends the flow before it.
  std::optional<std::uint64_t> first{};

  /// The state of the ranges before and in this part that wait for a cycle count.
  enum class Group : std::uint8_t {
    kOpen,    ///< They still wait.
    kClosed,  ///< They get `closing` cycles.
    kGap,     ///< They never get a count.
  };
  Group group = Group::kOpen;
  // The first count closes a group of earlier ranges, before any range of the part.
  std::optional<std::uint64_t> first_cycles{};
  std::uint64_t more_cycles = 0;
  std::vector<PartRange> begun{};  ///< Ranges of the part in this group.
  bool begun_lost = false;         ///< There were too many of them.
  std::uint64_t closing = 0;

  // -- Its end; there is a group only if the one at the start is not open. --
  std::optional<PartRange> branch{};  ///< An indirect branch whose target is not known yet.
  std::optional<PartRange> direct{};  ///< A direct branch whose target is in no block.
  std::vector<PartRange> waiting{};
  bool waiting_lost = false;
  std::uint64_t waiting_cycles = 0;
};

/// Adds up the parts of a stream, in their order.  The sum is what one counter would have counted,
/// except for edges and cycles where limits of Counter were exceeded.  One owner; not thread safe.
class Stitcher {
 public:
  void add(Part part);

  /// All counts that were added; open edges and groups stay open.
  Counts take();

 private:
  void close_group(Counts& more);
  void settle();

  Counts sum_;
  std::vector<Counts> pending_;  ///< Added together later, because each addition copies everything.
  std::size_t pending_rows_ = 0;
  std::optional<PartRange> branch_;
  std::optional<PartRange> direct_;
  std::vector<PartRange> waiting_;
  bool waiting_lost_ = false;
  std::uint64_t waiting_cycles_ = 0;
};

}  // namespace waymark::count
