#include "line_runs.h"

#include <algorithm>

namespace waymark::view {
namespace {

/// Bounds the memory for very many ranges.
constexpr std::size_t kMostRanges = std::size_t{1} << 18;

}  // namespace

LineId LineRuns::line_at(const program::Program& program, std::uint64_t address) {
  program.frames(address, frames_);
  if (frames_.empty() || frames_.front().file.empty() || frames_.front().line == 0) return kNoLine;
  const program::Frame& frame = frames_.front();
  const auto [known, added] =
      ids_.try_emplace({frame.file, frame.line}, static_cast<LineId>(lines_.size()));
  if (added) lines_.push_back({.file = frame.file, .number = frame.line});
  return known->second;
}

const std::vector<LineRun>& LineRuns::of(const Element& range) {
  if (!places_) return nothing_;
  const program::Place place = places_(range, range.start);
  if (place.program == nullptr) return nothing_;
  if (known_.size() > kMostRanges) known_.clear();
  const auto [known, added] = known_.try_emplace(
      Key{place.program, place.address, place.address + (range.end - range.start)});
  std::vector<LineRun>& runs = known->second;
  if (!added) return runs;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const std::uint64_t offset = walk_.address(range, i) - range.start;
    const LineId line = line_at(*place.program, place.address + offset);
    if (runs.empty() || runs.back().line != line) runs.push_back({.first = i, .line = line});
  }
  return runs;
}

LineId LineRuns::line_of(const Element& element, std::uint64_t address) {
  if (!places_) return kNoLine;
  const program::Place place = places_(element, address);
  return place.program == nullptr ? kNoLine : line_at(*place.program, place.address);
}

LineId LineRuns::at(const Element& range, std::uint32_t number) {
  const std::vector<LineRun>& runs = of(range);
  const auto after = std::ranges::upper_bound(runs, number, {}, &LineRun::first);
  return after == runs.begin() ? kNoLine : (after - 1)->line;
}

}  // namespace waymark::view
