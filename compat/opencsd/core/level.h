// The version of the reference whose behaviour is given.
#pragma once

#include <array>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark::compat {

/// A version of the reference, and the quirks that it does not have: a list as in
/// WAYMARK_OPENCSD_QUIRKS, empty or beginning with `-`.
struct Level {
  std::string_view version;
  std::string_view quirks;
};

/// The first is the default.
inline constexpr auto kLevels = std::to_array<Level>({
    {"1.8.0", ""},
    {"1.8.3", "-etmv4.v8m_exception_return_is_not_p0,-etmv4.exception_walk_runs_over"},
});

inline constexpr const char* kLevelVariable = "WAYMARK_OPENCSD_LEVEL";

/// kInvalidArgument for a version that is not in the table; the sentence names those that are.
Result<Level> level_by_version(std::string_view version);

/// The level that WAYMARK_OPENCSD_LEVEL selects; the default if it is unset or empty.
Result<Level> level_of_environment();

}  // namespace waymark::compat
