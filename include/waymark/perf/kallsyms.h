// The names of a running kernel: a copy of /proc/kallsyms.
#pragma once

#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/image/symbols.h"

namespace waymark::perf {

/// The functions of the kernel and of its modules, at the addresses where they ran.  Other lines
/// are ignored.  kBadData: there is no function, or the kernel hid all addresses as zeros.
Result<std::vector<image::Function>> read_kallsyms(std::string_view text);

}  // namespace waymark::perf
