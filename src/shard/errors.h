// Errors that several files of this module have.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "waymark/base/escape.h"
#include "waymark/base/result.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

inline constexpr std::string_view kStopped = "Interrupted.";

/// The user wants no more.
inline std::unexpected<Error> stopped() {
  return fail(ErrorCode::kConflict, std::string(kStopped));
}

inline std::unexpected<Error> changed(const Input& input) {
  return fail(ErrorCode::kConflict,
              fmt::format("{} has changed since the job was planned; restore it, or plan the job "
                          "again in another folder.",
                          escaped(input.path)));
}

}  // namespace waymark::shard
