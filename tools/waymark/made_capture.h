// Folders of captures that synth and etm4 plan make.
#pragma once

#include <span>
#include <string>

#include "waymark/base/result.h"
#include "waymark/synth/capture.h"

namespace waymark::cli {

/// Refuses a folder in which the capture would replace one of these input files, except that the
/// program itself may be where its copy would be.  kInvalidArgument.
Result<void> refuse_inputs_in(const std::string& folder, const synth::CaptureMaker& maker,
                              const synth::Program* program, std::span<const std::string> inputs);

}  // namespace waymark::cli
