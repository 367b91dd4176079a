// The names of code that a JIT compiler made: the files "/tmp/perf-PID.map" that it writes for
// perf.
#pragma once

#include <string_view>
#include <vector>

#include "waymark/image/symbols.h"

namespace waymark::perf {

/// Each line has an address, a size, both in hexadecimal digits with or without "0x", and a name,
/// which may contain blanks.  Of lines that overlap the later one counts, because its code was made
/// later.  Lines of another form are ignored.  In ascending order, without overlaps.
std::vector<image::Function> read_perf_map(std::string_view text);

}  // namespace waymark::perf
