// The name of a function as in the source, from the one that the linker knows.
#pragma once

#include <string>

namespace waymark::outputs {

/// A name of C++ or Rust as in the source; any other one unchanged, and all of them if this build
/// has no libiberty.  What is longer than kLongestName is cut.  Takes bounded time and memory
/// whatever the name says.  Any number of threads may call it.
std::string readable_name(const std::string& name);

}  // namespace waymark::outputs
