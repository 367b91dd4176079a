// The names of a running kernel: a copy of /proc/kallsyms.
#pragma once

#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/image/symbols.h"

namespace waymark::perf {

/// The functions of the kernel and of its modules, at the addresses where they ran.  Other lines
/// are ignored.  kBadData: no line has a function, or all addresses are zero, because
/// the kernel hides them from users without the right.
Result<std::vector<image::Function>> read_kallsyms(std::string_view text);

}  // namespace waymark::perf
