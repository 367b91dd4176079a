// The user's cache folder, for data that can be recreated.
#pragma once

#include <string>

namespace waymark {

/// The folder of Waymark in $XDG_CACHE_HOME, or else in ~/.cache; it need not exist.  Empty:
/// neither variable names an absolute path.
std::string user_cache_folder();

}  // namespace waymark
