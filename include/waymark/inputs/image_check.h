// Compares the trace of a capture with its code image.
#pragma once

#include <cstdint>

#include "waymark/inputs/capture.h"
#include "waymark/mismatch/finder.h"

namespace waymark::inputs {

inline constexpr std::uint64_t kMostChecked = std::uint64_t{8} << 20;

/// Decodes up to `most` bytes of the trace, in windows that are spread evenly, and gives every
/// place where trace and image disagree.  The capture was opened with CaptureOptions::check_image;
/// afterwards it is read from its beginning.  `passed`: gets what agrees.
void check_image(Capture& capture, const mismatch::Finder::Found& found,
                 std::uint64_t most = kMostChecked, const mismatch::Finder::Passed& passed = {});

}  // namespace waymark::inputs
