// How far above its link addresses a program may be, as addresses in the trace and sites in its
// code suggest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace waymark::locate {

struct SlideVote {
  std::uint64_t slide = 0;
  std::uint32_t votes = 0;  ///< How many addresses of the trace are sites of the program then.
  friend bool operator==(const SlideVote&, const SlideVote&) = default;
};

struct VoteOptions {
  std::uint64_t granule = 4096;               ///< Slides are multiples of it; a power of two.
  std::uint64_t mask = ~std::uint64_t{0};     ///< Addresses have these bits.
  std::size_t most = 1024;                    ///< Slides that are returned.
  std::size_t budget = std::size_t{1} << 24;  ///< Votes that are counted; memory is bounded by it.
};

/// The slides with the most votes, the best first.  Of `addresses`, which are distinct, the first
/// ones are used, as many as the budget allows.  `sites` are ascending.
std::vector<SlideVote> vote(std::span<const std::uint64_t> addresses,
                            std::span<const std::uint64_t> sites, const VoteOptions& options);

}  // namespace waymark::locate
