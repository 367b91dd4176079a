#include "waymark/locate/slide_votes.h"

#include <algorithm>

namespace waymark::locate {
namespace {

/// Sites by their address below the granule, so that an address meets only those that fit.
class SitesByOffset {
 public:
  SitesByOffset(std::span<const std::uint64_t> sites, std::uint64_t granule)
      : sites_(sites.begin(), sites.end()), low_(granule - 1) {
    std::ranges::stable_sort(sites_, {}, [this](std::uint64_t site) { return site & low_; });
  }
  [[nodiscard]] std::span<const std::uint64_t> at(std::uint64_t address) const {
    const auto found = std::ranges::equal_range(sites_, address & low_, {},
                                                [this](std::uint64_t site) { return site & low_; });
    return {found.begin(), found.end()};
  }

 private:
  std::vector<std::uint64_t> sites_;
  std::uint64_t low_;
};

}  // namespace

std::vector<SlideVote> vote(std::span<const std::uint64_t> addresses,
                            std::span<const std::uint64_t> sites, const VoteOptions& options) {
  const SitesByOffset by_offset(sites, options.granule);
  std::vector<std::uint64_t> slides;
  for (const std::uint64_t address : addresses) {
    const auto fitting = by_offset.at(address);
    if (slides.size() + fitting.size() > options.budget) break;
    for (const std::uint64_t site : fitting) slides.push_back((address - site) & options.mask);
  }
  std::ranges::sort(slides);
  std::vector<SlideVote> votes;
  for (std::size_t i = 0; i < slides.size();) {
    std::size_t end = i + 1;
    while (end < slides.size() && slides[end] == slides[i]) ++end;
    votes.push_back({slides[i], static_cast<std::uint32_t>(end - i)});
    i = end;
    // Few slides have many votes; the others need not be kept.
    if (votes.size() >= 8 * options.most) {
      std::ranges::stable_sort(votes, std::ranges::greater(), &SlideVote::votes);
      votes.resize(options.most);
    }
  }
  std::ranges::stable_sort(votes, std::ranges::greater(), &SlideVote::votes);
  if (votes.size() > options.most) votes.resize(options.most);
  return votes;
}

}  // namespace waymark::locate
