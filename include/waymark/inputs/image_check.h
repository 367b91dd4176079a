// Compares the trace of a capture with its code image.
#pragma once

#include <functional>

#include "waymark/inputs/capture.h"
#include "waymark/mismatch/finder.h"

namespace waymark::inputs {

/// Decodes up to 8 MiB of the trace, in windows that are spread evenly, and gives every place where
/// trace and image disagree.  The capture was opened with CaptureOptions::check_image; where it is
/// read next does not change.
void check_image(Capture& capture, const mismatch::Finder::Found& found);

}  // namespace waymark::inputs
