// Compares the trace of a capture with its code image.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/mismatch/finder.h"

namespace waymark::inputs {

inline constexpr std::uint64_t kMostChecked = std::uint64_t{8} << 20;

/// A stretch of the trace.
struct TraceWindow {
  TraceIndex begin = 0;
  TraceIndex end = 0;  ///< Excluded.
};

/// Windows of at most 256 KiB, spread evenly over the trace, with `most` bytes in total.  A short
/// trace is in them as a whole.
std::vector<TraceWindow> spread_windows(const Capture& capture, std::uint64_t most);

/// Decodes a stretch by itself, with the sources of `tree`, which start again there.  `take` gets
/// the elements; false: the rest is not wanted.  Afterwards the capture is read from its beginning.
/// `finder`: gets what the decoders report among the elements, which the caller gives it; nullptr:
/// nothing does.
void decode_window(Capture& capture, DecodeTree& tree, TraceWindow window, mismatch::Finder* finder,
                   const std::function<bool(std::span<const Element>)>& take);

/// Decodes up to `most` bytes of the trace, in windows that are spread evenly, and gives every
/// place where trace and image disagree.  The capture was opened with CaptureOptions::check_image;
/// afterwards it is read from its beginning.  `passed`: gets what agrees.
void check_image(Capture& capture, const mismatch::Finder::Found& found,
                 std::uint64_t most = kMostChecked, const mismatch::Finder::Passed& passed = {});

}  // namespace waymark::inputs
