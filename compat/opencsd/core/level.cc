#include "level.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace waymark::compat {

Result<Level> level_by_version(std::string_view version) {
  const auto* const known = std::ranges::find(kLevels, version, &Level::version);
  if (known != kLevels.end()) return *known;
  std::string versions;
  for (const Level& level : kLevels)
    versions += fmt::format("{}{}", versions.empty() ? "" : ", ", level.version);
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}={} is not a level of compatibility; the levels are {}.",
                          kLevelVariable, version, versions));
}

Result<Level> level_of_environment() {
  // A program that changes the environment at the same time must lock it.
  const char* const text = std::getenv(kLevelVariable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr || *text == '\0' ? kLevels.front() : level_by_version(text);
}

}  // namespace waymark::compat
