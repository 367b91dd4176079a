#include "level.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#ifndef WAYMARK_OPENCSD_DEFAULT_LEVEL
#define WAYMARK_OPENCSD_DEFAULT_LEVEL "1.8.0"
#endif

namespace waymark::compat {
namespace {

constexpr const Level* find(std::string_view version) {
  for (const Level& level : kLevels)
    if (level.version == version) return &level;
  return nullptr;
}
static_assert(find(WAYMARK_OPENCSD_DEFAULT_LEVEL) != nullptr,
              "CMake's WAYMARK_OPENCSD_LEVEL is not in kLevels");

/// nullptr: none.
struct Chosen {
  std::atomic<const Level*> by_client{nullptr};
  std::atomic<const Level*> in_use{nullptr};
};

Chosen& chosen() {
  static constinit Chosen all;
  return all;
}

}  // namespace

const Level& default_level() { return *find(WAYMARK_OPENCSD_DEFAULT_LEVEL); }

Result<Level> level_by_version(std::string_view version) {
  if (const Level* const known = find(version)) return *known;
  std::string versions;
  for (const Level& level : kLevels)
    versions += fmt::format("{}{}", versions.empty() ? "" : ", ", level.version);
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}={} is not a level of compatibility; the levels are {}.",
                          kLevelVariable, version, versions));
}

Result<void> set_level(std::string_view version) {
  if (!version.empty()) WAYMARK_TRY(level_by_version(version));
  chosen().by_client = find(version);
  chosen().in_use = nullptr;
  return {};
}

Result<Level> chosen_level() {
  const Level* level = chosen().by_client;
  if (level == nullptr) {
    // A program that changes the environment at the same time must lock it.
    const char* const text = std::getenv(kLevelVariable);
    if (text == nullptr || *text == '\0') {
      level = &default_level();
    } else {
      WAYMARK_TRY(level_by_version(text));
      level = find(text);
    }
  }
  chosen().in_use = level;
  return *level;
}

const Level& level_in_use() {
  const Level* const level = chosen().in_use.load(std::memory_order_relaxed);
  if (level != nullptr) [[likely]]
    return *level;
  const Result<Level> now = chosen_level();
  const Level* const known = now ? find(now->version) : nullptr;
  return known != nullptr ? *known : default_level();
}

}  // namespace waymark::compat
