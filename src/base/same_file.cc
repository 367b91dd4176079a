#include "waymark/base/same_file.h"

#include <sys/stat.h>

namespace waymark {
namespace {

const std::string* find(const struct stat& target, std::span<const std::string> files) {
  // A terminal, a pipe or /dev/null holds nothing that could be lost.
  if (!S_ISREG(target.st_mode)) return nullptr;
  for (const std::string& file : files) {
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0) continue;
    if (status.st_dev == target.st_dev && status.st_ino == target.st_ino) return &file;
  }
  return nullptr;
}

}  // namespace

const std::string* find_same_file(const std::string& path, std::span<const std::string> files) {
  struct stat target{};
  return ::stat(path.c_str(), &target) == 0 ? find(target, files) : nullptr;
}

const std::string* find_same_file(int descriptor, std::span<const std::string> files) {
  struct stat target{};
  return ::fstat(descriptor, &target) == 0 ? find(target, files) : nullptr;
}

}  // namespace waymark
