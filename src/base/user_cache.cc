#include "waymark/base/user_cache.h"

#include <cstdlib>
#include <filesystem>

namespace waymark {
namespace {

std::filesystem::path variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string user_cache_folder() {
  // The XDG Base Directory Specification says that a relative path must be ignored.
  std::filesystem::path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {
    const std::filesystem::path home = variable("HOME");
    if (!home.is_absolute()) return {};
    folder = home / ".cache";
  }
  return (folder / "waymark").string();
}

}  // namespace waymark
