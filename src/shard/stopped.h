// How functions of this module say that the user wants no more.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark::shard {

inline constexpr std::string_view kStopped = "Interrupted.";

inline std::unexpected<Error> stopped() {
  return fail(ErrorCode::kConflict, std::string(kStopped));
}

}  // namespace waymark::shard
