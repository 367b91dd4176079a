#include "trials.h"

#include <algorithm>
#include <utility>

#include "waymark/mismatch/finder.h"

namespace waymark::locate {
namespace {

constexpr std::uint64_t kMostRead = std::uint64_t{2} << 20;
constexpr std::size_t kMostBrief = 4;
constexpr std::uint64_t kBriefAddresses = 64;
constexpr std::uint64_t kBriefBytes = 4096;
constexpr std::size_t kMostAddresses = std::size_t{1} << 16;
constexpr std::uint64_t kPlenty = 64;  ///< Contradictions that leave no doubt.
constexpr std::uint64_t kFrame = 16;

/// More contradictions of a wrong place say nothing new.
bool is_hopeless(const Evidence& evidence) {
  return evidence.contradictions > 3 && (8 * evidence.contradictions > evidence.waypoints ||
                                         2 * evidence.contradictions > evidence.ways);
}

}  // namespace

Trials::Trials(inputs::Capture& capture, const std::function<bool()>& stop, IsOurs is_ours)
    : capture_(capture),
      tree_(*capture.checking_tree()),
      memory_(capture),
      stop_(stop),
      is_ours_(std::move(is_ours)),
      windows_(inputs::spread_windows(capture, kMostRead)) {}

bool Trials::asks_to_stop() {
  stopped_ = stopped_ || (stop_ && stop_());
  return stopped_;
}

void Trials::refresh() {
  for (Source* const source : tree_.sources()) source->refresh();
}

void Trials::read_missing(const std::function<void(const Element& element)>& take) {
  refresh();
  for (const inputs::TraceWindow& window : windows_) {
    if (asks_to_stop()) break;
    inputs::decode_window(capture_, tree_, window, nullptr, [&](std::span<const Element> elements) {
      for (const Element& element : elements)
        if (element.kind == ElementKind::kAddrNacc) take(element);
      return true;
    });
  }
}

std::vector<std::uint64_t> Trials::read_addresses() {
  std::unordered_map<std::uint64_t, std::uint64_t> times;
  refresh();
  for (const inputs::TraceWindow& window : windows_) {
    if (asks_to_stop()) break;
    std::uint64_t here = 0;
    TraceIndex enough = window.end;
    inputs::decode_window(capture_, tree_, window, nullptr, [&](std::span<const Element> elements) {
      for (const Element& element : elements) {
        if (element.kind != ElementKind::kAddrNacc || !is_ours(element)) continue;
        ++stated_;
        if (++here == 1) enough = std::min(enough, element.index + kBriefBytes);
        if (here == kBriefAddresses) enough = std::min(enough, element.index + kFrame);
        if (times.size() < kMostAddresses || times.contains(element.start)) ++times[element.start];
      }
      return true;
    });
    const std::uint64_t size = (enough - window.begin + kFrame - 1) / kFrame * kFrame;
    if (here != 0 && brief_.size() < kMostBrief)
      brief_.push_back({window.begin, std::min(window.end, window.begin + size)});
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted(times.begin(), times.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::uint64_t> addresses;
  addresses.reserve(sorted.size());
  for (const auto& [address, count] : sorted) addresses.push_back(address);
  return addresses;
}

Evidence Trials::try_briefly(const std::vector<CodeRange>& code) {
  Evidence evidence;
  for (const inputs::TraceWindow& window : brief_) {
    if (is_hopeless(evidence) || asks_to_stop()) break;
    decode(window, code, true, evidence);
  }
  return evidence;
}

Evidence Trials::try_all(const std::vector<CodeRange>& code) {
  Evidence evidence;
  for (const inputs::TraceWindow& window : windows_) {
    if (asks_to_stop() || (is_hopeless(evidence) && evidence.contradictions >= kPlenty)) break;
    decode(window, code, false, evidence);
  }
  return evidence;
}

void Trials::decode(inputs::TraceWindow window, const std::vector<CodeRange>& code, bool briefly,
                    Evidence& evidence) {
  const auto is_inside = [&](std::uint64_t address) {
    return std::ranges::any_of(code, [&](const CodeRange& range) {
      return address >= range.address && address - range.address < range.size;
    });
  };
  mismatch::Finder finder(
      [&](const Element& element, std::uint64_t address, std::span<std::uint8_t> scratch) {
        return memory_.read(element, address, scratch);
      },
      [&](const mismatch::Mismatch& mismatch) {
        const bool inside = is_inside(mismatch.address) ||
                            std::ranges::any_of(mismatch.path, [&](const mismatch::Walked& walked) {
                              return is_inside(walked.start);
                            });
        if (!inside || !is_ours(mismatch.element)) return;
        if (evidence.contradictions++ != 0) return;
        evidence.before_first = evidence.waypoints;
        evidence.address = mismatch.address;
        evidence.index = mismatch.element.index;
      },
      [&](std::span<const mismatch::Walked> path) {
        if (std::ranges::any_of(
                path, [&](const mismatch::Walked& walked) { return is_inside(walked.start); }))
          ++evidence.ways;
      });
  refresh();
  inputs::decode_window(capture_, tree_, window, &finder, [&](std::span<const Element> elements) {
    for (const Element& element : elements) {
      if (element.kind == ElementKind::kAddrNacc && is_ours(element)) ++evidence.missing;
      if (element.kind == ElementKind::kInstrRange && is_inside(element.start) && is_ours(element))
        ++evidence.waypoints;
      finder.observe({&element, 1});
    }
    return !is_hopeless(evidence) || (!briefly && evidence.contradictions < kPlenty);
  });
}

}  // namespace waymark::locate
