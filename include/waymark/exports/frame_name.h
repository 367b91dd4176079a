// Names of frames in exported files.
#pragma once

#include <string>

#include "waymark/stacks/tree.h"

namespace waymark::exports {

/// As in the source, on one line.
std::string frame_name(const stacks::Code& code);

/// Whether it is code of the Linux kernel.
bool is_kernel(const stacks::Code& code);

}  // namespace waymark::exports
